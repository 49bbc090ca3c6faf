"""From gold and an encoder to a trained aligner: checked before, trained, calibrated after."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import numpy as np
import torch
from transformers import AutoConfig

from otalign import head as heads
from otalign.aligner import Aligner, saved_settings
from otalign.alignment import Gold, Level
from otalign.encoders.embeddings import in_numpy
from otalign.encoders.transformers import Transformers, depth
from otalign.head import Head, LearnedTransport, Projection
from otalign.ot import Problem
from otalign.settings import Learned, Settings
from otalign.training.batches import LEVELS, PairSet
from otalign.training.calibration import calibrated
from otalign.training.dev import DevSet, Score
from otalign.training.loop import Epoch, Run
from otalign.training.model import Model
from otalign.training.recipe import Recipe
from otalign.tuning.store import Progress, unheard
from otalign.tuning.sweep import DIGITS, Curve

MOST_UNKNOWN = 0.5  # of the subwords: more, and the tokeniser is that of another model or language


@dataclass(frozen=True)
class Source:
    """Pairs to learn from, and pairs to choose by, of one corpus."""

    train: Sequence[Gold]
    dev: Sequence[Gold]

    @property
    def dev_levels(self) -> tuple[Level, ...]:
        """Those at which the dev set differs."""
        return LEVELS if any(gold.possible for gold in self.dev) else LEVELS[:1]


@dataclass(frozen=True, eq=False)
class Trained:
    """An aligner, what each epoch came to, and how good the best one is on each dev set."""

    aligner: Aligner
    recipe: Recipe
    epochs: list[Epoch]
    dev: dict[str, dict[Level, Score]]

    @property
    def f1(self) -> float:
        """The mean over dev sets and levels, each at its best threshold."""
        return mean(score.f1 for levels in self.dev.values() for score in levels.values())


def known_levels(sources: Mapping[str, Source]) -> np.ndarray:
    """At which levels the links of each train pair are known, (pairs, levels).

    A corpus that has possible links in its dev set but none in its train set was annotated there without the
    distinction: its links are all that are possible. If that goes for all, they are taken as sure as well.
    """
    vague = {
        name: any(gold.possible for gold in source.dev) and not any(gold.possible for gold in source.train)
        for name, source in sources.items()
    }
    if all(vague.values()):
        vague = dict.fromkeys(vague, False)
    return np.array(
        [[not vague[name], True] for name, source in sources.items() for _ in source.train], dtype=bool
    )


def train(
    encoder: str,
    sources: Mapping[str, Source],
    problem: Problem | Learned,
    recipe: Recipe,
    *,
    level: Level = "s",
    device: str | None = None,
    half: bool = False,
    accumulate: int = 1,
    checkpoint: Path | None = None,
    progress: Progress = unheard,
    heard: Callable[[Epoch], None] = lambda epoch: None,
) -> Trained:
    """An aligner trained on all sources together, as good on their dev sets as it got.

    `encoder` may be an aligner that was trained before the same way: then training goes on from it. The
    level says which links the paper's transports learn; a learned one learns both.
    """
    check(sources)
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=device == "cpu" or not torch.cuda.is_available())
    if half:
        torch.set_float32_matmul_precision("high")  # where the rest is no more exact than that
    base = Transformers(encoder, depth(encoder), device=str(accelerator.device))
    settings = _settings(base, sources, problem, recipe.seed, level)
    train = PairSet(
        [gold for source in sources.values() for gold in source.train],
        base,
        settings.pairing,
        known_levels(sources),
        recipe.both_directions,
    )
    check_fit(base, train, recipe)
    devs = {
        name: DevSet.of(PairSet(source.dev, base), _levels(source, problem, level))
        for name, source in sources.items()
    }
    torch.manual_seed(recipe.seed)
    model = Model(base, _head(base, problem, recipe), settings, level, recipe).to(accelerator.device)
    run = Run(
        model,
        train,
        devs,
        recipe,
        accelerator,
        half=half,
        accumulate=accumulate,
        checkpoint=checkpoint,
        progress=progress,
    )
    epochs = run(heard)
    return _finished(base, model, settings, recipe, devs, epochs)


def _finished(
    base: Transformers,
    model: Model,
    settings: Settings,
    recipe: Recipe,
    devs: Mapping[str, DevSet],
    epochs: list[Epoch],
) -> Trained:
    """The model as an aligner, calibrated if it has log-odds, with the best thresholds for all dev sets."""
    base.trained = True
    mix = model.mix()
    base.mix = None if mix is None else in_numpy(mix.detach())
    head = model.head_in_numpy()
    if isinstance(head, LearnedTransport):
        head = calibrated(model, devs.values())
        model.set_head(head)
    curves = {name: dev.curves(model) for name, dev in devs.items()}
    thresholds = {level: _best_threshold(curves.values(), level) for level in LEVELS}
    if isinstance(head, LearnedTransport):
        sure = thresholds["s"] or 0.5
        problem = Learned(sure, thresholds["s+p"] or sure)  # where all links are sure, all possible ones are
        settings = settings.changed(problem=problem, threshold=problem.sure)
    else:
        settings = settings.changed(threshold=thresholds[model.level])
    scores = {name: dict(_best(of)) for name, of in curves.items()}
    base.model.eval()
    return Trained(Aligner(base, settings, head=head), recipe, epochs, scores)


def _best(curves: Mapping[Level, Curve]) -> Iterator[tuple[Level, Score]]:
    for level, curve in curves.items():
        yield level, Score.best(curve)


def _best_threshold(curves: Iterable[Mapping[Level, Curve]], level: Level) -> float | None:
    """The first with the highest mean F1, over the dev sets that have the level."""
    those = [of[level] for of in curves if level in of]
    if not those:
        return None
    f1 = np.mean([curve.f1 for curve in those], axis=0)
    return float(those[0].thresholds[int(np.argmax(np.round(f1, DIGITS)))])


def check(sources: Mapping[str, Source]) -> None:
    """That there is something to learn from, and to choose by."""
    if not sources:
        raise ValueError("sources must hold at least one corpus, got none")
    for name, source in sources.items():
        for split, golds in (("train", source.train), ("dev", source.dev)):
            if not golds:
                raise ValueError(f"{name} has an empty {split} set; training needs pairs in both")
            if not any(gold.sure or gold.possible for gold in golds):
                raise ValueError(
                    f"{name}: the {len(golds):,} pairs of the {split} set have no link to learn from"
                )


def check_fit(encoder: Transformers, pairs: PairSet, recipe: Recipe) -> None:
    """That the encoder can be saved, has the layers that are mixed, and has an embedding for all that its
    tokeniser gives, which is not unknown words."""
    if AutoConfig.from_pretrained(encoder.origin, local_files_only=True).is_encoder_decoder:
        raise ValueError(f"only encoders can be trained, and {encoder.name} has a decoder too")
    if recipe.layers > encoder.layer + 1:
        raise ValueError(
            f"layers must be at most {encoder.layer + 1}, as many as {encoder.name} has, got {recipe.layers}"
        )
    known = encoder.model.get_input_embeddings().num_embeddings
    most = int(pairs.ids.max(initial=0))
    if most >= known:
        raise ValueError(
            f"the tokenizer of {encoder.name} gives the subword {most}, but its encoder knows {known:,}; "
            "are the two of one model?"
        )
    there = np.arange(pairs.ids.shape[1]) < pairs.sizes[:, None]
    unknown = float((pairs.ids[there] == encoder.subworder.unknown).mean())
    if unknown > MOST_UNKNOWN:
        raise ValueError(
            f"the tokenizer of {encoder.name} does not know {unknown:.0%} of the subwords; "
            "is it made for this language?"
        )


def _settings(
    encoder: Transformers, names: Iterable[str], problem: Problem | Learned, seed: int, level: Level
) -> Settings:
    """The paper's, but for what it tunes: nothing is centred, and the masses are norms."""
    saved = saved_settings(encoder.folder) if encoder.folder else None
    corpora = " ".join(names)
    trained = corpora if isinstance(problem, Learned) else f"{corpora} {level}"
    if saved and saved.trained:
        trained = f"{saved.trained}; {trained}"
    return Settings(
        encoder=saved.encoder if saved else encoder.name,
        layer=encoder.layer,
        centring=False,
        smoothing=0.0,
        distortion=0.0,
        fertility="norm",
        problem=problem,
        trained=f"{trained}, seed {seed}",
    )


def _head(encoder: Transformers, problem: Problem | Learned, recipe: Recipe) -> Head:
    """A new one, or that of the aligner from which training goes on."""
    kind = LearnedTransport if isinstance(problem, Learned) else Projection
    before = heads.load(encoder.folder) if encoder.folder else None
    if isinstance(before, kind):
        return before
    size = encoder.model.config.hidden_size
    return kind.new(size, np.random.default_rng(recipe.seed))


def _levels(source: Source, problem: Problem | Learned, level: Level) -> tuple[Level, ...]:
    return source.dev_levels if isinstance(problem, Learned) else (level,)
