"""The results of a job: models are trained, chosen on dev sets, and only then tested, each once."""

import gc
import shutil
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch

from experiments.columns import COLUMNS, Column
from experiments.peers.aligner import TrainedPeer
from experiments.peers.settings import PeerSettings
from experiments.peers.training import PeerTraining, train_peer
from experiments.supervised.context import Ground
from experiments.supervised.jobs import ALL, BOTH, Job, ResultKey, chooser
from experiments.supervised.reliability import reliability
from experiments.supervised.results import Result
from experiments.supervised.rows import FURTHER_ROW, REFIT_ROW, ROWS, UNION, Try
from otalign.aligner import Aligner, load_settings
from otalign.metrics import Counts, count, scores, signature
from otalign.settings import Learned
from otalign.training import Checkpoint, RunOptions, TrainingResult, refit, train
from otalign.tuning import calibrate

APART = 60.0  # seconds at least between two checkpoints of a model: on a GPU, some are trained sooner
RELIED_ON = "mtref"  # the test set on which it is seen whether probabilities mean what they say


@dataclass(frozen=True)
class Failure:
    """A place that nothing came of, and why."""

    place: ResultKey
    error: str
    trace: str = ""


@dataclass(frozen=True, eq=False)
class Made:
    """A training that is over: which of the tries is best, what it gave, and what each reached."""

    chosen: int
    trained: TrainingResult | PeerTraining
    tried: list[dict[str, Any]]
    seconds: float
    begun: tuple[Checkpoint, ...]  # there until it is tested


def results(job: Job, ground: Ground) -> Iterator[Result | Failure]:
    """The new ones of a job, as they come. One that fails does not keep the others from being made."""
    for place, make in _steps(job, ground):
        try:
            made = make()
        except Exception as error:
            made = Failure(place, f"{type(error).__name__}: {error}", traceback.format_exc())
        _tidy()
        if made:
            yield made


def _steps(job: Job, ground: Ground) -> Iterator[tuple[ResultKey, Callable[[], Result | None]]]:
    first, *others = job.places
    if not others and not job.kept and not ROWS[first.row].after:
        yield first, lambda: _result(first, ground, _train_best(first, ground, ground.source.encoder))
        return
    family = _Family(ground, first.seed, job.kept)
    for place in job.places:
        yield place, lambda place=place: family.result(place)


class _Family:
    """The model of all corpora, and what is made of it: the same without tuning, trained further, or with the
    dev sets too. What others go on from is kept in a folder, so that what was interrupted can go on."""

    def __init__(self, ground: Ground, seed: int, kept: bool):
        self.ground, self.head, self.kept = ground, ResultKey(UNION, ALL, BOTH, seed), kept
        self.folder = ground.results.folder / f"{UNION}_{seed}_{ground.key(self.head)[:12]}.model"
        self.refit = self.folder / "refit"
        self.made: dict[ResultKey, Made] = {}

    def result(self, place: ResultKey) -> Result | None:
        """New, or nothing if there is one, and the model too if others go on from it."""
        folder = {UNION: self.folder, REFIT_ROW: self.refit}.get(place.row) if self.kept else None
        if self.ground.result(place) and (folder is None or _has_model(folder)):
            return None
        row = ROWS[place.row]
        chosen = self._train_family(self.head if row.together else place._replace(row=FURTHER_ROW))
        if not row.refit:
            return _result(place, self.ground, chosen)
        encoder = self.ground.source.encoder if row.together else self._get_model(self.refit)
        made = _refit(place, self.ground, encoder, chosen)
        if folder:
            made.trained.aligner.save(folder)
        return _result(place, self.ground, made)

    def forget(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _train_family(self, place: ResultKey) -> Made:
        """The head, or what goes on from it: here, and once."""
        if place not in self.made:
            encoder = self.ground.source.encoder if place == self.head else self._get_model(self.folder)
            self.made[place] = _train_best(place, self.ground, encoder)
            if place == self.head and self.kept:
                self.forget()
                self.made[place].trained.aligner.save(self.folder)
        return self.made[place]

    def _get_model(self, folder: Path) -> str:
        if not _has_model(folder):
            raise ValueError("the model that it goes on from could not be trained")
        return str(folder)


def _has_model(folder: Path) -> bool:
    return load_settings(folder) is not None  # they are written last


def forget(jobs: Iterable[Job], ground: Ground) -> None:
    """The models that were kept for others to go on from, once all of these are there."""
    whole: dict[int, bool] = {}
    for job in jobs:
        if job.kept or ROWS[job.places[0].row].after:
            there = all(map(ground.result, job.places))
            whole[job.places[0].seed] = there and whole.get(job.places[0].seed, True)
    for seed, there in whole.items():
        if there:
            _Family(ground, seed, True).forget()


def _refit(place: ResultKey, ground: Ground, encoder: str, made: Made) -> Made:
    start = time.perf_counter()
    assert isinstance(made.trained, TrainingResult)
    sources = {corpus: ground.get_splits(corpus) for corpus in place.corpora}
    checkpoint = _checkpoint(place, ground, encoder)
    trained = refit(encoder, sources, made.trained, options=_make_options(ground, checkpoint))
    seconds, begun = time.perf_counter() - start, (*made.begun, checkpoint)
    return replace(made, trained=trained, seconds=seconds, begun=begun)


def _train_best(place: ResultKey, ground: Ground, encoder: str) -> Made:
    """Train all that is to be tried at a place, and return the best by dev F1."""
    start, tried, best, begun = time.perf_counter(), [], None, []
    for number, one in _tries(place, ground):
        checkpoint = _checkpoint(place, ground, encoder, number)
        begun.append(checkpoint)
        fit: Any = train_peer if isinstance(one.problem, str) else train
        trained = fit(
            encoder,
            {corpus: ground.get_splits(corpus) for corpus in place.corpora},
            one.problem,
            ROWS[place.row].recipe.replace(learning_rate=one.learning_rate, seed=place.seed),
            level=None if place.level == BOTH else place.level,  # pyright: ignore[reportArgumentType]
            options=_make_options(ground, checkpoint),
        )
        tried.append({"problem": repr(one.problem), "learning_rate": one.learning_rate, "dev_f1": trained.f1})
        if best is None or trained.f1 > best[1].f1:
            best = number, trained
        del trained
        _tidy()
    assert best is not None
    return Made(*best, tried, time.perf_counter() - start, tuple(begun))


def _make_options(ground: Ground, checkpoint: Checkpoint) -> RunOptions:
    """Return the device and the precision of the study, and the checkpoint of one training."""
    return RunOptions(device=ground.source.device, bf16=ground.precision == "bfloat16", checkpoint=checkpoint)


def _checkpoint(place: ResultKey, ground: Ground, encoder: str, number: int = 0) -> Checkpoint:
    """Return the checkpoint of one of the tries at a place, from which it continues if it was interrupted."""
    digest = sha256(f"{ground.key(place)} {encoder} {number}".encode()).hexdigest()
    folder = ground.results.folder
    folder.mkdir(parents=True, exist_ok=True)
    return Checkpoint(folder / f"{'_'.join(map(str, place))}_{digest[:12]}.pt", APART)


def _tries(place: ResultKey, ground: Ground) -> list[tuple[int, Try]]:
    """All of a row for its first seed; for the others, the one that was best there."""
    tries = list(enumerate(ROWS[place.row].tries))
    before = chooser(place)
    if before is None:
        return tries
    first = ground.result(before)
    if first is None:
        raise ValueError(f"what is best was not found out: {before} is missing")
    return [tries[first.chosen]]


def _result(place: ResultKey, ground: Ground, made: Made) -> Result | None:
    """The model tested, and written down; nothing if it is there already."""
    if ground.result(place):
        return None
    start, trained, row = time.perf_counter(), made.trained, ROWS[place.row]
    counted: dict[Column, tuple[Counts, Aligner | TrainedPeer]] = {}
    for column in place.columns:
        aligner = _for_column(trained, column, row.tuned)
        golds = ground.material.golds(column.corpus, "test")
        found = aligner.align_many((gold.source, gold.target) for gold in golds)
        counted[column] = count(found, golds, column.level), aligner
    result = Result(
        place,
        made.chosen,
        _problem(trained),
        row.recipe.replace(learning_rate=row.tries[made.chosen].learning_rate, seed=place.seed).to_dict(),
        made.tried,
        [epoch.to_dict() for epoch in trained.epochs],
        {name: {k: score._asdict() for k, score in of.items()} for name, of in trained.dev.items()},
        {column.key: _figures(place, column, *of) for column, of in counted.items()},
        _reliability(trained, ground) if place.row == UNION else {},
        round(made.seconds + time.perf_counter() - start, 2),
        ground.key(place),
    )
    ground.results.write(result, [counts for counts, _ in counted.values()])
    for checkpoint in made.begun:
        checkpoint.remove()
    return result


def _problem(trained: TrainingResult | PeerTraining) -> dict[str, Any]:
    """Return the name and the parameters of the problem or peer that was trained."""
    settings = trained.aligner.settings
    return {"name": settings.method} if isinstance(settings, PeerSettings) else settings.to_dict()["problem"]


def _for_column(trained: TrainingResult | PeerTraining, column: Column, tuned: bool) -> Aligner | TrainedPeer:
    """The aligner at the level of a column, with the threshold that is best on its dev set, or its own."""
    aligner = trained.aligner
    if isinstance(aligner, TrainedPeer):
        return aligner  # of one level and one dev set, those of the column
    settings = aligner.settings
    if isinstance(settings.problem, Learned):
        settings = settings.replace(links=column.level, threshold=None)
        if tuned:
            levels = trained.dev[column.dev]  # where no link is merely possible, the levels are one
            settings = settings.replace(threshold=(levels.get(column.level) or levels["sure"]).threshold)
    return replace(aligner, settings=settings)


def _figures(
    place: ResultKey, column: Column, counts: Counts, aligner: Aligner | TrainedPeer
) -> dict[str, Any]:
    more = {"row": place.row, "corpus": column.corpus, "split": "test", "tuned_on": f"{column.dev} dev"}
    if not ROWS[place.row].tuned:
        del more["tuned_on"]
    return {
        **scores(counts, ["precision", "recall", "f1"]),
        "pairs": len(counts),
        "threshold": aligner.settings.threshold,
        "signature": signature(counts, more=more | aligner.settings.signature_fields()),
    }


def _reliability(trained: TrainingResult | PeerTraining, ground: Ground) -> dict[str, Any]:
    """Compute the reliability of the aligner, calibrated on one corpus as its thresholds are chosen."""
    assert isinstance(trained.aligner, Aligner)
    aligner, _ = calibrate(trained.aligner, {RELIED_ON: ground.material.golds(RELIED_ON, "dev")})
    golds, found = ground.material.golds(RELIED_ON, "test"), {}
    for column in (c for c in COLUMNS if c.corpus == RELIED_ON):
        settings = aligner.settings.replace(links=column.level)
        of_level = reliability(replace(aligner, settings=settings), golds, column.level)
        found[column.level] = {what: one.to_dict() for what, one in of_level.items()}
    return found


def _tidy() -> None:
    """Give back the memory of models that are done with: others share the device."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
