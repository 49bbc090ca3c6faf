"""From gold and an encoder to a trained aligner: checked before, trained, calibrated after."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from otalign.aligner import Aligner, load_settings
from otalign.alignment import LEVELS, Gold, Level
from otalign.encoders import Pairing
from otalign.encoders.embeddings import to_numpy
from otalign.encoders.transformers import Transformers
from otalign.ot import Entropic, Problem
from otalign.progress import Progress, no_progress
from otalign.scoring import Head, ProjectionHead, TransportHead, load_head
from otalign.settings import AnySettings, Learned, LearnedSettings, Settings
from otalign.training.batches import PairSet
from otalign.training.beginning import Beginning
from otalign.training.dev import DevSet, best_scores
from otalign.training.distillation import NO_TEACHER, Distillation
from otalign.training.loop import Checkpoint, Epoch
from otalign.training.model import Model
from otalign.training.recipe import Recipe
from otalign.training.sources import CorpusSplits, check_fit, check_sources, find_known_levels
from otalign.training.store import build_store
from otalign.training.stream import ExampleStream
from otalign.training.trained import Trained
from otalign.tuning.calibration import best_threshold, calibrate

MOST_WORKERS = 12


def train(
    encoder: str,
    sources: Mapping[str, CorpusSplits],
    problem: Problem | Learned,
    recipe: Recipe,
    *,
    level: Level | None = None,
    distillation: Distillation = NO_TEACHER,
    device: str | None = None,
    half: bool = False,
    accumulate: int = 1,
    workers: int | None = None,
    checkpoint: Checkpoint | None = None,
    progress: Progress = no_progress,
    heard: Callable[[Epoch], None] = lambda epoch: None,
) -> Trained:
    """Train an aligner on all sources together, and keep it as it is best on their dev sets.

    Args:
        encoder: Folder or name of a pretrained encoder, or the folder of an aligner that was trained before
            the same way: then training goes on from it.
        sources: Gold pairs to learn from and to choose by, by the name of their corpus.
        problem: What is learned: the transport itself, or one of the paper's transports.
        recipe: How it is learned.
        level: Links to learn. By default a learned transport learns both levels, and others the sure links.
        distillation: Teachers of a learned transport, and unlabelled pairs for them to annotate.
        device: Device of torch; by default a GPU if there is one.
        half: Whether to compute in bfloat16 where that is safe.
        accumulate: Parts in which a batch is read, where memory is short.
        workers: Processes that prepare batches; by default as many as suit the device.
        checkpoint: File from which an interrupted run is continued.
        progress: Called with what is done, how much of it, and of how much.
        heard: Called with each epoch.

    Returns:
        The aligner with its scores.

    Raises:
        ValueError: If the inputs do not fit together; before training starts.
    """
    check_sources(sources)
    if not isinstance(problem, Learned):
        level = level or "sure"
    elif level and distillation.teachers:
        raise ValueError(f"level must be left out beside a teacher, who tells of both, got {level!r}")
    golds = [gold for source in sources.values() for gold in source.train]
    known = find_known_levels(sources) & _mask_levels(level)
    begun = _Begun(
        encoder,
        sources,
        golds,
        known,
        problem,
        recipe,
        level,
        device,
        distillation=distillation,
        workers=workers,
        progress=progress,
    )
    devs = {
        name: DevSet.of(PairSet(source.dev, begun.base, begun.settings.pairing), _levels(source, level))
        for name, source in sources.items()
    }
    epochs = begun.run(devs, half=half, accumulate=accumulate, checkpoint=checkpoint, heard=heard)
    return _finish_aligner(begun.base, begun.model, begun.settings, recipe, level, sources, devs, epochs)


def refit(
    encoder: str,
    sources: Mapping[str, CorpusSplits],
    trained: Trained,
    *,
    distillation: Distillation = NO_TEACHER,
    device: str | None = None,
    half: bool = False,
    accumulate: int = 1,
    workers: int | None = None,
    checkpoint: Checkpoint | None = None,
    progress: Progress = no_progress,
    heard: Callable[[Epoch], None] = lambda epoch: None,
) -> Trained:
    """What was trained, once more from the encoder, with the dev sets learned too.

    Nothing is chosen any more: recipe, epochs, thresholds and calibration are those that the dev sets have
    chosen before, and so are the scores, which are not its own. Teachers are to be given again.
    """
    recipe, settings, head = trained.recipe, trained.aligner.settings, trained.aligner.head
    assert settings.problem is not None
    golds = [gold for source in sources.values() for gold in source.train]
    more = [gold for source in sources.values() for gold in source.dev]
    known = np.concatenate([find_known_levels(sources), np.ones((len(more), len(LEVELS)), dtype=bool)])
    known &= _mask_levels(trained.level)
    if not recipe.decay:  # where the pace does not end by itself, it ends where it was best
        recipe = recipe.replace(epochs=max(trained.epochs, key=lambda epoch: epoch.f1).number, steps=0)
    recipe = recipe.replace(patience=None)
    begun = _Begun(
        encoder,
        sources,
        [*golds, *more],
        known,
        settings.problem,
        recipe,
        trained.level,
        device,
        distillation=distillation,
        workers=workers,
        progress=progress,
    )
    begun.run({}, half=half, accumulate=accumulate, checkpoint=checkpoint, heard=heard)
    learned = begun.model.head_in_numpy()
    if isinstance(head, TransportHead):
        kept = {"calibration": head.calibration, "null_calibration": head.null_calibration}
        learned = replace(learned, **kept)
    settings = settings.replace(trained=f"{begun.settings.trained}, dev sets too")
    return replace(trained, aligner=Aligner(_finish_encoder(begun.base, begun.model), settings, head=learned))


class _Begun(Beginning):
    """A model about to be trained, with its pairs; what does not fit is said here."""

    def __init__(
        self,
        encoder: str,
        names: Iterable[str],
        golds: Sequence[Gold],
        known: np.ndarray,
        problem: Problem | Learned,
        recipe: Recipe,
        level: Level | None,
        device: str | None,
        *,
        distillation: Distillation,
        workers: int | None,
        progress: Progress,
    ):
        distillation.check(problem)
        texts = distillation.texts(golds)
        about = f"{encoder} {list(names)} {golds} {problem} {recipe} {level} {distillation.digest(texts)}"
        super().__init__(encoder, recipe, device, progress, about)
        if workers is None:
            workers = _suitable_workers(self.accelerator)
        check_fit(self.base, golds, recipe)
        self.settings = _settings(self.base, names, problem, recipe.seed, level, distillation.teachers)
        predicted = distillation.predict(texts, workers, progress)
        self.pairs = ExampleStream(
            build_store(golds, known, texts, predicted, recipe.teaching, recipe.unlabelled_weight),
            self.base.reader,
            self.settings.pairing,
            recipe.augmentation,
            recipe.both_directions,
            recipe.gold_share,
            workers,
        )
        torch.manual_seed(recipe.seed)
        model = Model(self.base, _head(self.base, problem, recipe), self.settings, level or "sure", recipe)
        self.model = model.to(self.accelerator.device)

    def run(self, devs: Mapping[str, DevSet], **options: Any) -> list[Epoch]:
        return self.train(self.model, self.pairs, devs, **options)


def _finish_encoder(base: Transformers, model: Model) -> Transformers:
    """The encoder, with what was learned."""
    base.trained = True
    mix = model.mix()
    base.mix = None if mix is None else to_numpy(mix.detach())
    base.model.eval()
    return base


def _finish_aligner(
    base: Transformers,
    model: Model,
    settings: AnySettings,
    recipe: Recipe,
    level: Level | None,
    sources: Mapping[str, CorpusSplits],
    devs: Mapping[str, DevSet],
    epochs: list[Epoch],
) -> Trained:
    """The model as an aligner, suited to all dev sets: thresholds, and calibration if it has log-odds."""
    aligner = Aligner(_finish_encoder(base, model), settings, head=model.head_in_numpy())
    if isinstance(settings.problem, Learned):
        aligner, curves = calibrate(aligner, {name: source.dev for name, source in sources.items()}, level)
    else:
        curves = {name: dev.curves(model) for name, dev in devs.items()}
        best = best_threshold(curves.values(), model.level)
        aligner = replace(aligner, settings=settings.replace(threshold=best))
    return Trained(aligner, recipe, level, epochs, {name: best_scores(of) for name, of in curves.items()})


def _settings(
    encoder: Transformers,
    names: Iterable[str],
    problem: Problem | Learned,
    seed: int,
    level: Level | None,
    teachers: Sequence[Aligner],
) -> AnySettings:
    """The paper's, but for what it tunes: nothing is centred, and the masses are norms."""
    saved = load_settings(encoder.folder) if encoder.folder else None
    corpora = " ".join(names)
    trained = f"{corpora} {level}" if level else corpora
    if saved and saved.trained:
        trained = f"{saved.trained}; {trained}"
    taught = f", taught by {_name_teachers(teachers)}" if teachers else ""
    trained = f"{trained}, seed {seed}{taught}"
    name = saved.encoder if saved else encoder.name
    if isinstance(problem, Learned):
        return LearnedSettings(
            encoder=name,
            layer=encoder.layer,
            pairing=_pairing(saved, problem),
            problem=problem,
            links=level or "sure",
            trained=trained,
        )
    return Settings(
        encoder=name,
        layer=encoder.layer,
        pairing=_pairing(saved, problem),
        centring=False,
        smoothing=0.0,
        distortion=0.0,
        fertility="norm",
        problem=problem,
        solver=Entropic(tol=1e-4),  # its gradients are those of a converged plan
        trained=trained,
    )


def _pairing(saved: AnySettings | None, problem: Problem | Learned) -> Pairing:
    """A learned transport gives the same links whichever sentence is the source, unless it was begun
    otherwise; the paper's reads the source first."""
    if saved and saved.trained:
        return saved.pairing
    return "canonical" if isinstance(problem, Learned) else "joint"


def _name_teachers(teachers: Sequence[Aligner]) -> str:
    """Their encoders, each with how many there are: mpnet-base × 3."""
    counts = Counter(teacher.settings.encoder for teacher in teachers)
    return ", ".join(name if count == 1 else f"{name} × {count}" for name, count in counts.items())


def _suitable_workers(accelerator: Any) -> int:
    """Return as many workers as keep a GPU busy; a CPU is busy with the model itself."""
    if accelerator.device.type != "cuda":
        return 0
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(MOST_WORKERS, cores // accelerator.num_processes - 1))


def _head(encoder: Transformers, problem: Problem | Learned, recipe: Recipe) -> Head:
    """A new one, or that of the aligner from which training goes on."""
    kind = TransportHead if isinstance(problem, Learned) else ProjectionHead
    before = load_head(encoder.folder) if encoder.folder else None
    if isinstance(before, kind):
        return before
    size = encoder.model.config.hidden_size
    return kind.initialize(size, np.random.default_rng(recipe.seed))


def _levels(source: CorpusSplits, level: Level | None) -> tuple[Level, ...]:
    """Those that the dev set of a source is scored at."""
    return (level,) if level else source.dev_levels


def _mask_levels(level: Level | None) -> np.ndarray:
    """Of each level."""
    return np.array([level in (None, one) for one in LEVELS])
