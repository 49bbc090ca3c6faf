"""The models of the supervised study, and the order in which jobs train them."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from experiments.columns import COLUMNS, DEVS, Column, dev_levels
from experiments.supervised.rows import FIRST, REFIT_ROW, ROWS, SupervisedRow

ALL, BOTH = "all", "both"  # all corpora; both levels


class ResultKey(NamedTuple):
    """The identity of a model: row, corpus, level and seed."""

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
        """Columns on which the model is tested."""
        if not ROWS[self.row].tested:
            return ()
        return tuple(c for c in COLUMNS if c.dev in self.corpora and self.level in (BOTH, c.level))


@dataclass(frozen=True)
class Job:
    """Models that a worker trains in order, since later ones depend on earlier ones."""

    places: tuple[ResultKey, ...]
    after: ResultKey | None = None  # must be finished before: it chooses the settings, or is trained further
    kept: bool = False  # whether other jobs train its models further


def places(row: SupervisedRow, seeds: int | None = None) -> tuple[ResultKey, ...]:
    """Return the models of a row, seed by seed; none for a row that selects from others."""
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
    """Return the jobs for these models, urgent ones first, then larger ones."""
    families: dict[ResultKey, list[ResultKey]] = {}
    for place in wanted:
        families.setdefault(_head(place), []).append(place)

    def urgency(head: ResultKey) -> tuple[int, bool, int, int]:
        kind = FIRST.index(head.row) if head.row in FIRST else len(FIRST) + list(ROWS).index(head.row)
        return kind, head.seed > 1, -size(head), head.seed

    return [job for head in sorted(families, key=urgency) for job in _family(head, families[head])]


def _head(place: ResultKey) -> ResultKey:
    """Return the model from which a model starts; itself if none."""
    before = ROWS[place.row].after
    return ResultKey(before, ALL, BOTH, place.seed) if before else place


def _family(head: ResultKey, wanted: Sequence[ResultKey]) -> Iterator[Job]:
    """Yield the job of the head, then a job for each corpus that trains its models further."""
    apart: dict[tuple[str, str], list[ResultKey]] = {}
    for place in wanted:
        if place != head and not ROWS[place.row].together:
            apart.setdefault((place.corpus, place.level), []).append(place)
    together = {place for place in wanted if ROWS[place.row].together} - {head}
    if any(ROWS[place.row].refit for group in apart.values() for place in group):
        together.add(head._replace(row=REFIT_ROW))
    yield Job((head, *sorted(together)), chooser(head), kept=bool(apart))
    for group in apart.values():
        # What is refit comes right after what it was chosen by.
        yield Job(tuple(sorted(group, key=lambda place: ROWS[place.row].refit)), head)


def chooser(place: ResultKey) -> ResultKey | None:
    """Return the model whose choice among the tries this one uses."""
    return place._replace(seed=1) if place.seed > 1 and len(ROWS[place.row].tries) > 1 else None


class Waiting:
    """The queue of jobs. A job that depends on another waits until that is finished."""

    def __init__(self, jobs: Sequence[Job]):
        self.left = list(jobs)
        self.unfinished = {place for job in jobs for place in job.places}

    def __iter__(self) -> Iterator[Job]:
        """Yield the jobs that are ready now."""
        while job := self.next():
            yield job

    def next(self) -> Job | None:
        """Return the first job that is ready."""
        for k, job in enumerate(self.left):
            if job.after not in self.unfinished:
                return self.left.pop(k)
        return None

    def finish(self, job: Job) -> None:
        """Mark a job as finished, even if it failed: jobs that need its choice then fail with a message."""
        self.unfinished -= set(job.places)
