"""What there is to train, in what order: places of models in the study, and the jobs that make them."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from otalign.study.columns import COLUMNS, DEVS, Column, dev_levels
from otalign.study.supervised.rows import FIRST, ROWS, Row

ALL, BOTH = "all", "both"  # of the corpora; of the levels


class Place(NamedTuple):
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
    """Models that are made one after the other by one worker; all but the first go on from it."""

    places: tuple[Place, ...]
    chooser: Place | None = None  # the one that has to be there before, since it says what is best


def places(row: Row, seeds: int | None = None) -> tuple[Place, ...]:
    """All of a row, seed by seed; none of a row that is made of others."""
    if row.better_of:
        return ()
    on = (ALL,) if row.together else DEVS
    return tuple(
        Place(row.name, corpus, level, seed)
        for seed in range(1, (seeds or row.seeds) + 1)
        for corpus in on
        for level in (dev_levels(corpus) if row.by_level else (BOTH,))
    )


def ordered(wanted: Collection[Place], size: Callable[[Place], int]) -> list[Job]:
    """The jobs that make these places, the more urgent first, and then the larger ones."""
    heads: dict[Place, list[Place]] = {}
    for place in wanted:
        before = ROWS[place.row].after
        head = Place(before, ALL, BOTH, place.seed) if before else place
        heads.setdefault(head, []).append(place)

    def urgency(head: Place) -> tuple[int, bool, int, int]:
        kind = FIRST.index(head.row) if head.row in FIRST else len(FIRST) + list(ROWS).index(head.row)
        return kind, head.seed > 1, -size(head), head.seed

    def kinship(place: Place) -> tuple[bool, str, bool]:
        row = ROWS[place.row]
        return not row.together, place.corpus, row.refit

    # Others of the family after their head, which is made even if it is there: they go on from it. What is
    # refit comes right after what it was chosen by.
    return [
        Job((head, *sorted((place for place in heads[head] if place != head), key=kinship)), chooser(head))
        for head in sorted(heads, key=urgency)
    ]


def chooser(place: Place) -> Place | None:
    """The place whose choice among the tries this one takes over."""
    return place._replace(seed=1) if place.seed > 1 and len(ROWS[place.row].tries) > 1 else None


class Waiting:
    """Jobs that nobody has taken. One that is to take over a choice waits until that has been made."""

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
            if job.chooser not in self.unmade:
                return self.left.pop(k)
        return None

    def finished(self, job: Job) -> None:
        """Well or not: where a choice is missing after all, those that wait for it will say so."""
        self.unmade -= set(job.places)
