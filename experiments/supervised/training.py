"""The work of a job: models are trained, chosen on dev sets, and only then tested, each once."""

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
from experiments.peers.training import PeerTraining
from experiments.supervised.context import StudyContext
from experiments.supervised.jobs import ALL, BOTH, Job, ModelId, find_chooser
from experiments.supervised.reliability import measure_reliability
from experiments.supervised.results import Result
from experiments.supervised.rows import FURTHER_ROW, REFIT_ROW, ROWS, UNION, Try
from experiments.supervised.trainers import find_trainer
from otalign.aligner import Aligner
from otalign.metrics import Counts, compute_scores, count, describe_score
from otalign.settings import load_settings
from otalign.training import Checkpoint, RunOptions, TrainingResult, refit
from otalign.tuning import calibrate

CHECKPOINT_INTERVAL = 60.0  # seconds between two checkpoints of a model; a GPU trains some models sooner
RELIABILITY_CORPUS = "mtref"  # corpus on whose test set the reliability of probabilities is measured


@dataclass(frozen=True)
class Failure:
    """A model that has no result, and the reason."""

    model: ModelId
    error: str
    trace: str = ""


@dataclass(frozen=True, eq=False)
class FinishedTraining:
    """The best of the tries of a model, and the dev F1 of each."""

    chosen: int
    result: TrainingResult | PeerTraining
    tried: list[dict[str, Any]]
    seconds: float
    checkpoints: tuple[Checkpoint, ...]  # kept until the model is tested


def run_job(job: Job, context: StudyContext) -> Iterator[Result | Failure]:
    """Yield the new results of a job as they come. A model that fails does not stop the others."""
    for model, make_result in _list_steps(job, context):
        try:
            result = make_result()
        except Exception as error:
            result = Failure(model, f"{type(error).__name__}: {error}", traceback.format_exc())
        _free_memory()
        if result:
            yield result


def _list_steps(job: Job, context: StudyContext) -> Iterator[tuple[ModelId, Callable[[], Result | None]]]:
    first, *others = job.models
    if not others and not job.is_base and not ROWS[first.row].after:
        yield first, lambda: _test(first, context, _train_best(first, context, context.source.encoder))
        return
    family = _Family(context, first.seed, job.is_base)
    for model in job.models:
        yield model, lambda model=model: family.make_result(model)


class _Family:
    """The model of all corpora, and the models that start from it: the same without tuning, trained further,
    or trained on the dev sets too. Models that others start from are saved, so that an interrupted run can
    continue."""

    def __init__(self, context: StudyContext, seed: int, is_base: bool) -> None:
        self.context, self.base, self.is_base = context, ModelId(UNION, ALL, BOTH, seed), is_base
        key = context.compute_key(self.base)
        self.folder = context.results.folder / f"{UNION}_{seed}_{key[:12]}.model"
        self.refit_folder = self.folder / "refit"
        self.trainings: dict[ModelId, FinishedTraining] = {}

    def make_result(self, model: ModelId) -> Result | None:
        """Train and test a model, unless its result exists, and its weights if others start from them."""
        folder = {UNION: self.folder, REFIT_ROW: self.refit_folder}.get(model.row) if self.is_base else None
        if self.context.find_result(model) and (folder is None or _has_model(folder)):
            return None
        row = ROWS[model.row]
        training = self._train(self.base if row.together else model._replace(row=FURTHER_ROW))
        if not row.refit:
            return _test(model, self.context, training)
        encoder = self.context.source.encoder if row.together else self._find_model(self.refit_folder)
        training = _refit(model, self.context, encoder, training)
        if folder:
            training.result.aligner.save(folder)
        return _test(model, self.context, training)

    def remove(self) -> None:
        """Delete the saved models."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _train(self, model: ModelId) -> FinishedTraining:
        """Train the base, or a model that starts from it, once."""
        if model not in self.trainings:
            is_base = model == self.base
            encoder = self.context.source.encoder if is_base else self._find_model(self.folder)
            self.trainings[model] = _train_best(model, self.context, encoder)
            if is_base and self.is_base:
                self.remove()
                self.trainings[model].result.aligner.save(self.folder)
        return self.trainings[model]

    def _find_model(self, folder: Path) -> str:
        if not _has_model(folder):
            raise ValueError("the model that it starts from could not be trained")
        return str(folder)


def _has_model(folder: Path) -> bool:
    return load_settings(folder) is not None  # the settings are written last


def remove_base_models(jobs: Iterable[Job], context: StudyContext) -> None:
    """Delete the saved models of the seeds whose jobs all have their results."""
    finished: dict[int, bool] = {}
    for job in jobs:
        if job.is_base or ROWS[job.models[0].row].after:
            seed = job.models[0].seed
            finished[seed] = all(map(context.find_result, job.models)) and finished.get(seed, True)
    for seed, all_finished in finished.items():
        if all_finished:
            _Family(context, seed, True).remove()


def _refit(
    model: ModelId, context: StudyContext, encoder: str, training: FinishedTraining
) -> FinishedTraining:
    start = time.perf_counter()
    assert isinstance(training.result, TrainingResult)
    sources = {corpus: context.get_splits(corpus) for corpus in model.corpora}
    checkpoint = _make_checkpoint(model, context, encoder)
    result = refit(encoder, sources, training.result, options=_make_options(context, checkpoint))
    return replace(
        training,
        result=result,
        seconds=time.perf_counter() - start,
        checkpoints=(*training.checkpoints, checkpoint),
    )


def _train_best(model: ModelId, context: StudyContext, encoder: str) -> FinishedTraining:
    """Train all tries of a model, and return the best by dev F1."""
    start, tried, best, checkpoints = time.perf_counter(), [], None, []
    for number, one in _list_tries(model, context):
        checkpoint = _make_checkpoint(model, context, encoder, number)
        checkpoints.append(checkpoint)
        result = find_trainer(one.problem).train(
            encoder,
            {corpus: context.get_splits(corpus) for corpus in model.corpora},
            one.problem,
            ROWS[model.row].recipe.replace(learning_rate=one.learning_rate, seed=model.seed),
            None if model.level == BOTH else model.level,  # pyright: ignore[reportArgumentType]
            _make_options(context, checkpoint),
        )
        tried.append({"problem": repr(one.problem), "learning_rate": one.learning_rate, "dev_f1": result.f1})
        if best is None or result.f1 > best[1].f1:
            best = number, result
        del result
        _free_memory()
    assert best is not None
    return FinishedTraining(*best, tried, time.perf_counter() - start, tuple(checkpoints))


def _make_options(context: StudyContext, checkpoint: Checkpoint) -> RunOptions:
    """Return the device and the precision of the study, and the checkpoint of one training."""
    return RunOptions(
        device=context.source.device, bf16=context.precision == "bfloat16", checkpoint=checkpoint
    )


def _make_checkpoint(model: ModelId, context: StudyContext, encoder: str, number: int = 0) -> Checkpoint:
    """Return the checkpoint of one try, from which it continues if it was interrupted."""
    digest = sha256(f"{context.compute_key(model)} {encoder} {number}".encode()).hexdigest()
    folder = context.results.folder
    folder.mkdir(parents=True, exist_ok=True)
    return Checkpoint(folder / f"{'_'.join(map(str, model))}_{digest[:12]}.pt", CHECKPOINT_INTERVAL)


def _list_tries(model: ModelId, context: StudyContext) -> list[tuple[int, Try]]:
    """Return all tries of a row for its first seed, and for other seeds the one that was best there."""
    tries = list(enumerate(ROWS[model.row].tries))
    chooser = find_chooser(model)
    if chooser is None:
        return tries
    first = context.find_result(chooser)
    if first is None:
        raise ValueError(f"the best try is unknown: {chooser} is missing")
    return [tries[first.chosen]]


def _test(model: ModelId, context: StudyContext, training: FinishedTraining) -> Result | None:
    """Test a model and write its result; return None if the result exists."""
    if context.find_result(model):
        return None
    start, trained, row = time.perf_counter(), training.result, ROWS[model.row]
    used = row.tries[training.chosen]
    trainer = find_trainer(used.problem)
    tested: dict[Column, tuple[Counts, Aligner | TrainedPeer]] = {}
    for column in model.columns:
        aligner = trainer.select_aligner(trained, column, row.tuned)
        golds = context.data.get_golds(column.corpus, "test")
        alignments = aligner.align_many((gold.source, gold.target) for gold in golds)
        tested[column] = count(alignments, golds, column.level), aligner
    result = Result(
        model,
        training.chosen,
        trainer.describe_problem(trained),
        row.recipe.replace(learning_rate=used.learning_rate, seed=model.seed).to_dict(),
        training.tried,
        [epoch.to_dict() for epoch in trained.epochs],
        {name: {k: score._asdict() for k, score in levels.items()} for name, levels in trained.dev.items()},
        {column.key: _make_figures(model, column, *found) for column, found in tested.items()},
        _measure_reliability(trained, context) if model.row == UNION else {},
        round(training.seconds + time.perf_counter() - start, 2),
        context.compute_key(model),
    )
    context.results.write(result, [counts for counts, _ in tested.values()])
    for checkpoint in training.checkpoints:
        checkpoint.remove()
    return result


def _make_figures(
    model: ModelId, column: Column, counts: Counts, aligner: Aligner | TrainedPeer
) -> dict[str, Any]:
    more = {"row": model.row, "corpus": column.corpus, "split": "test", "tuned_on": f"{column.dev} dev"}
    if not ROWS[model.row].tuned:
        del more["tuned_on"]
    return {
        **compute_scores(counts, ["precision", "recall", "f1"]),
        "pairs": len(counts),
        "threshold": aligner.settings.threshold,
        "signature": describe_score(counts, more=more | aligner.settings.signature_fields()),
    }


def _measure_reliability(trained: TrainingResult | PeerTraining, context: StudyContext) -> dict[str, Any]:
    """Measure the reliability of the aligner, calibrated on one corpus as its thresholds are chosen."""
    assert isinstance(trained.aligner, Aligner)
    dev, test = (context.data.get_golds(RELIABILITY_CORPUS, split) for split in ("dev", "test"))
    aligner, _ = calibrate(trained.aligner, {RELIABILITY_CORPUS: dev})
    found = {}
    for column in (c for c in COLUMNS if c.corpus == RELIABILITY_CORPUS):
        settings = aligner.settings.replace(links=column.level)
        measured = measure_reliability(replace(aligner, settings=settings), test, column.level)
        found[column.level] = {kind: reliability.to_dict() for kind, reliability in measured.items()}
    return found


def _free_memory() -> None:
    """Free the memory of models that are no longer used: others share the device."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
