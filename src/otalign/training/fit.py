"""From gold and an encoder to a trained aligner: checked before, trained, calibrated after."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from otalign import head as heads
from otalign.aligner import Aligner, saved_settings
from otalign.alignment import Gold, Level
from otalign.encoders.embeddings import in_numpy
from otalign.encoders.transformers import Transformers
from otalign.head import Head, LearnedTransport, Projection
from otalign.ot import Entropic, Problem
from otalign.peers.settings import Peer
from otalign.peers.trained import TrainedPeer
from otalign.settings import Learned, Settings
from otalign.training.batches import LEVELS, PairSet
from otalign.training.beginning import Beginning
from otalign.training.dev import DevSet, best_scores
from otalign.training.loop import Checkpoint, Epoch
from otalign.training.model import Model
from otalign.training.peer_fit import train_peer
from otalign.training.recipe import Recipe
from otalign.training.sources import Source, check, check_fit, known_levels
from otalign.training.teaching import check_teacher, said_by
from otalign.training.trained import Trained
from otalign.tuning.calibration import best_threshold, suited
from otalign.tuning.store import Progress, unheard


def train(
    encoder: str,
    sources: Mapping[str, Source],
    problem: Problem | Learned | Peer,
    recipe: Recipe,
    *,
    level: Level | None = None,
    teacher: Aligner | None = None,
    device: str | None = None,
    half: bool = False,
    accumulate: int = 1,
    checkpoint: Checkpoint | None = None,
    progress: Progress = unheard,
    heard: Callable[[Epoch], None] = lambda epoch: None,
) -> Trained:
    """An aligner trained on all sources together, as good on their dev sets as it got.

    `encoder` may be an aligner that was trained before the same way: then training goes on from it. The
    level says which links are learned; without one, the paper's transports learn the sure ones, and a learned
    transport learns both levels, of gold and, if it has a teacher, of that aligner's probabilities too. Dev
    sets are gold alone. In place of a problem there may be the name of a peer, which learns one level too.
    """
    check(sources)
    if not isinstance(problem, Learned):
        level = level or "s"
    elif level and teacher is not None:
        raise ValueError(f"level must be left out beside a teacher, who tells of both, got {level!r}")
    if isinstance(problem, str):
        assert level is not None
        if teacher is not None:
            raise ValueError(f"teacher must be left out for {problem}; only a learned transport has one")
        options: dict[str, Any] = {"half": half, "accumulate": accumulate, "checkpoint": checkpoint}
        options |= {"progress": progress, "heard": heard}
        return train_peer(encoder, sources, problem, recipe, level=level, device=device, **options)
    golds = [gold for source in sources.values() for gold in source.train]
    known = known_levels(sources) & _are_learned(level)
    begun = _Begun(
        encoder, sources, golds, known, problem, recipe, level, device, teacher=teacher, progress=progress
    )
    devs = {
        name: DevSet.of(PairSet(source.dev, begun.base), _levels(source, level))
        for name, source in sources.items()
    }
    epochs = begun.run(devs, half=half, accumulate=accumulate, checkpoint=checkpoint, heard=heard)
    return _finished(begun.base, begun.model, begun.settings, recipe, level, sources, devs, epochs)


def refit(
    encoder: str,
    sources: Mapping[str, Source],
    trained: Trained,
    *,
    teacher: Aligner | None = None,
    device: str | None = None,
    half: bool = False,
    accumulate: int = 1,
    checkpoint: Checkpoint | None = None,
    progress: Progress = unheard,
    heard: Callable[[Epoch], None] = lambda epoch: None,
) -> Trained:
    """What was trained, once more from the encoder, with the dev sets learned too.

    Nothing is chosen any more: recipe, epochs, thresholds and calibration are those that the dev sets have
    chosen before, and so are the scores, which are not its own. A teacher is to be given again.
    """
    if isinstance(trained.aligner, TrainedPeer):
        raise ValueError(f"trained must be by transport to be refit, got {trained.aligner.signature}")
    recipe, settings, head = trained.recipe, trained.aligner.settings, trained.aligner.head
    assert settings.problem is not None
    golds = [gold for source in sources.values() for gold in source.train]
    more = [gold for source in sources.values() for gold in source.dev]
    known = np.concatenate([known_levels(sources), np.ones((len(more), len(LEVELS)), dtype=bool)])
    known &= _are_learned(trained.level)
    if not recipe.decay:  # where the pace does not end by itself, it ends where it was best
        recipe = recipe.changed(epochs=max(trained.epochs, key=lambda epoch: epoch.f1).number, steps=0)
    recipe = recipe.changed(patience=None)
    begun = _Begun(
        encoder,
        sources,
        [*golds, *more],
        known,
        settings.problem,
        recipe,
        trained.level,
        device,
        teacher=teacher,
        progress=progress,
    )
    begun.run({}, half=half, accumulate=accumulate, checkpoint=checkpoint, heard=heard)
    learned = begun.model.head_in_numpy()
    if isinstance(head, LearnedTransport):
        kept = {"calibration": head.calibration, "null_calibration": head.null_calibration}
        learned = replace(learned, **kept)
    settings = settings.changed(trained=f"{begun.settings.trained}, dev sets too")
    return replace(trained, aligner=Aligner(_trained(begun.base, begun.model), settings, head=learned))


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
        teacher: Aligner | None,
        progress: Progress,
    ):
        check_teacher(teacher, problem)
        taught_by = teacher and teacher.signature
        about = f"{encoder} {list(names)} {golds} {problem} {recipe} {level} {taught_by}"
        super().__init__(encoder, recipe, device, progress, about)
        self.settings = _settings(self.base, names, problem, recipe.seed, level, teacher)
        taught = teacher and said_by(teacher, golds, progress)
        self.pairs = PairSet(
            golds,
            self.base,
            self.settings.pairing,
            known,
            recipe.both_directions,
            taught,
            recipe.teaching,
        )
        check_fit(self.base, self.pairs, recipe)
        torch.manual_seed(recipe.seed)
        model = Model(self.base, _head(self.base, problem, recipe), self.settings, level or "s", recipe)
        self.model = model.to(self.accelerator.device)

    def run(self, devs: Mapping[str, DevSet], **options: Any) -> list[Epoch]:
        return self.trained(self.model, self.pairs, devs, **options)


def _trained(base: Transformers, model: Model) -> Transformers:
    """The encoder, with what was learned."""
    base.trained = True
    mix = model.mix()
    base.mix = None if mix is None else in_numpy(mix.detach())
    base.model.eval()
    return base


def _finished(
    base: Transformers,
    model: Model,
    settings: Settings,
    recipe: Recipe,
    level: Level | None,
    sources: Mapping[str, Source],
    devs: Mapping[str, DevSet],
    epochs: list[Epoch],
) -> Trained:
    """The model as an aligner, suited to all dev sets: thresholds, and calibration if it has log-odds."""
    aligner = Aligner(_trained(base, model), settings, head=model.head_in_numpy())
    if isinstance(settings.problem, Learned):
        aligner, curves = suited(aligner, {name: source.dev for name, source in sources.items()}, level)
    else:
        curves = {name: dev.curves(model) for name, dev in devs.items()}
        best = best_threshold(curves.values(), model.level)
        aligner = replace(aligner, settings=settings.changed(threshold=best))
    return Trained(aligner, recipe, level, epochs, {name: best_scores(of) for name, of in curves.items()})


def _settings(
    encoder: Transformers,
    names: Iterable[str],
    problem: Problem | Learned,
    seed: int,
    level: Level | None,
    teacher: Aligner | None,
) -> Settings:
    """The paper's, but for what it tunes: nothing is centred, and the masses are norms."""
    saved = saved_settings(encoder.folder) if encoder.folder else None
    corpora = " ".join(names)
    trained = f"{corpora} {level}" if level else corpora
    if saved and saved.trained:
        trained = f"{saved.trained}; {trained}"
    taught = f", taught by {teacher.settings.encoder}" if teacher else ""
    return Settings(
        encoder=saved.encoder if saved else encoder.name,
        layer=encoder.layer,
        centring=False,
        smoothing=0.0,
        distortion=0.0,
        fertility="norm",
        problem=problem,
        links="possible" if level == "s+p" and isinstance(problem, Learned) else "sure",
        solver=Entropic(tol=1e-4),  # its gradients are those of a plan at rest
        trained=f"{trained}, seed {seed}{taught}",
    )


def _head(encoder: Transformers, problem: Problem | Learned, recipe: Recipe) -> Head:
    """A new one, or that of the aligner from which training goes on."""
    kind = LearnedTransport if isinstance(problem, Learned) else Projection
    before = heads.load(encoder.folder) if encoder.folder else None
    if isinstance(before, kind):
        return before
    size = encoder.model.config.hidden_size
    return kind.new(size, np.random.default_rng(recipe.seed))


def _levels(source: Source, level: Level | None) -> tuple[Level, ...]:
    """Those that the dev set of a source is scored at."""
    return (level,) if level else source.dev_levels


def _are_learned(level: Level | None) -> np.ndarray:
    """Of each level."""
    return np.array([level in (None, one) for one in LEVELS])
