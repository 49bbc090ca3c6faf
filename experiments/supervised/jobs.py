"""What there is to train, in what order: places of models in the study, and the jobs that make them."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from experiments.columns import COLUMNS, DEVS, Column, dev_levels
from experiments.supervised.rows import FIRST, REFIT_ROW, ROWS, SupervisedRow

ALL, BOTH = "all", "both"  # of the corpora; of the levels


class ResultKey(NamedTuple):
    """Of a trained model in the study."""

    row: str
    corpus: str  # what it is trained on
    level: str
    seed: int

    def __str__(self) -> str:
        return f"{self.row}, {self.corpus} {self.level}, seed {self.seed}"

    @property
    def corpora(self) -> tuple[str, ...]:
        return DEVS if self.corpus == ALL else (self.corpus,)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those that it is tested on."""
        if not ROWS[self.row].tested:
            return ()
        return tuple(c for c in COLUMNS if c.dev in self.corpora and self.level in (BOTH, c.level))


@dataclass(frozen=True)
class Job:
    """Models that are made one after the other by one worker, each of them with what those before it gave."""

    places: tuple[ResultKey, ...]
    after: ResultKey | None = None  # has to be made before: it says what is best, or is gone on from
    kept: bool = False  # whether others go on from its models


def places(row: SupervisedRow, seeds: int | None = None) -> tuple[ResultKey, ...]:
    """All of a row, seed by seed; none of a row that is made of others."""
    if row.better_of:
        return ()
    on = (ALL,) if row.together else DEVS
    return tuple(
        ResultKey(row.name, corpus, level, seed)
        for seed in range(1, (seeds or row.seeds) + 1)
        for corpus in on
        for level in (dev_levels(corpus) if row.by_level else (BOTH,))
    )


def order_jobs(wanted: Collection[ResultKey], size: Callable[[ResultKey], int]) -> list[Job]:
    """The jobs that make these places, the more urgent first, and then the larger ones."""
    families: dict[ResultKey, list[ResultKey]] = {}
    for place in wanted:
        families.setdefault(_head(place), []).append(place)

    def urgency(head: ResultKey) -> tuple[int, bool, int, int]:
        kind = FIRST.index(head.row) if head.row in FIRST else len(FIRST) + list(ROWS).index(head.row)
        return kind, head.seed > 1, -size(head), head.seed

    return [job for head in sorted(families, key=urgency) for job in _family(head, families[head])]


def _head(place: ResultKey) -> ResultKey:
    """The place whose model it is made of; its own if of none."""
    before = ROWS[place.row].after
    return ResultKey(before, ALL, BOTH, place.seed) if before else place


def _family(head: ResultKey, wanted: Sequence[ResultKey]) -> Iterator[Job]:
    """The head with what is made of it on all corpora, and then, corpus by corpus, what goes on from that."""
    apart: dict[tuple[str, str], list[ResultKey]] = {}
    for place in wanted:
        if place != head and not ROWS[place.row].together:
            apart.setdefault((place.corpus, place.level), []).append(place)
    together = {place for place in wanted if ROWS[place.row].together} - {head}
    if any(ROWS[place.row].refit for of in apart.values() for place in of):
        together.add(head._replace(row=REFIT_ROW))
    yield Job((head, *sorted(together)), chooser(head), kept=bool(apart))
    for of in apart.values():
        # What is refit comes right after what it was chosen by.
        yield Job(tuple(sorted(of, key=lambda place: ROWS[place.row].refit)), head)


def chooser(place: ResultKey) -> ResultKey | None:
    """The place whose choice among the tries this one takes over."""
    return place._replace(seed=1) if place.seed > 1 and len(ROWS[place.row].tries) > 1 else None


class Waiting:
    """Jobs that nobody has taken. One that takes something over waits until that has been made."""

    def __init__(self, jobs: Sequence[Job]):
        self.left = list(jobs)
        self.unmade = {place for job in jobs for place in job.places}

    def __iter__(self) -> Iterator[Job]:
        """In turn, as far as they are ready now."""
        while job := self.next():
            yield job

    def next(self) -> Job | None:
        """The first that is ready."""
        for k, job in enumerate(self.left):
            if job.after not in self.unmade:
                return self.left.pop(k)
        return None

    def finish(self, job: Job) -> None:
        """Well or not: where a choice is missing after all, those that wait for it will say so."""
        self.unmade -= set(job.places)
