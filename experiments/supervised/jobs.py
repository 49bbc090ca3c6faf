"""The models of the supervised study, and the order in which jobs train them."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from experiments.columns import COLUMNS, DEVS, Column, dev_levels
from experiments.supervised.rows import FIRST, REFIT_ROW, ROWS, SupervisedRow

ALL, BOTH = "all", "both"  # all corpora; both levels


class ModelId(NamedTuple):
    """The identity of a model: row, corpus, level and seed."""

    row: str
    corpus: str  # the corpus that it is trained on, or `ALL`
    level: str
    seed: int

    def __str__(self) -> str:
        return f"{self.row}, {self.corpus} {self.level}, seed {self.seed}"

    @property
    def corpora(self) -> tuple[str, ...]:
        """Corpora that the model is trained on."""
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

    models: tuple[ModelId, ...]
    after: ModelId | None = None  # must finish first: it chooses the settings, or is trained further
    is_base: bool = False  # whether other jobs train its models further


def list_models(row: SupervisedRow, seeds: int | None = None) -> tuple[ModelId, ...]:
    """Return the models of a row, seed by seed; none for a row that selects from others."""
    if row.better_of:
        return ()
    corpora = (ALL,) if row.together else DEVS
    return tuple(
        ModelId(row.name, corpus, level, seed)
        for seed in range(1, (seeds or row.seeds) + 1)
        for corpus in corpora
        for level in (dev_levels(corpus) if row.by_level else (BOTH,))
    )


def order_jobs(models: Collection[ModelId], count_pairs: Callable[[ModelId], int]) -> list[Job]:
    """Return the jobs for these models, urgent ones first, then larger ones."""
    families: dict[ModelId, list[ModelId]] = {}
    for model in models:
        families.setdefault(_find_base(model), []).append(model)

    def compute_urgency(base: ModelId) -> tuple[int, bool, int, int]:
        kind = FIRST.index(base.row) if base.row in FIRST else len(FIRST) + list(ROWS).index(base.row)
        return kind, base.seed > 1, -count_pairs(base), base.seed

    return [job for base in sorted(families, key=compute_urgency) for job in _make_jobs(base, families[base])]


def _find_base(model: ModelId) -> ModelId:
    """Return the model from which a model starts; itself if none."""
    before = ROWS[model.row].after
    return ModelId(before, ALL, BOTH, model.seed) if before else model


def _make_jobs(base: ModelId, models: Sequence[ModelId]) -> Iterator[Job]:
    """Yield the job of the base, then a job for each corpus that trains its models further."""
    by_corpus: dict[tuple[str, str], list[ModelId]] = {}
    for model in models:
        if model != base and not ROWS[model.row].together:
            by_corpus.setdefault((model.corpus, model.level), []).append(model)
    together = {model for model in models if ROWS[model.row].together} - {base}
    if any(ROWS[model.row].refit for group in by_corpus.values() for model in group):
        together.add(base._replace(row=REFIT_ROW))
    yield Job((base, *sorted(together)), find_chooser(base), is_base=bool(by_corpus))
    for group in by_corpus.values():
        # A model is refitted right after the one whose choices it uses.
        yield Job(tuple(sorted(group, key=lambda model: ROWS[model.row].refit)), base)


def find_chooser(model: ModelId) -> ModelId | None:
    """Return the model whose choice among the tries this one uses."""
    return model._replace(seed=1) if model.seed > 1 and len(ROWS[model.row].tries) > 1 else None


class JobQueue:
    """The queue of jobs. A job that depends on another waits until that is finished."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.waiting = list(jobs)
        self.unfinished = {model for job in jobs for model in job.models}

    def __iter__(self) -> Iterator[Job]:
        """Yield the jobs that are ready now."""
        while job := self.next():
            yield job

    def next(self) -> Job | None:
        """Return the first job that is ready."""
        for k, job in enumerate(self.waiting):
            if job.after not in self.unfinished:
                return self.waiting.pop(k)
        return None

    def finish(self, job: Job) -> None:
        """Mark a job as finished, even if it failed: jobs that need its choice then fail with a message."""
        self.unfinished -= set(job.models)
