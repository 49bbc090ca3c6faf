"""Training of an aligner on gold links, and training it again with the dev sets."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from otalign.aligner import Aligner
from otalign.alignment import Level
from otalign.encoders.embeddings import to_numpy
from otalign.encoders.transformers import Transformers
from otalign.models import resolve_model
from otalign.ot import Problem
from otalign.scoring import Head, load_head
from otalign.settings import AnySettings, Learned, load_settings
from otalign.training.accelerator import choose_workers, load_encoder, make_accelerator
from otalign.training.batches import PairSet
from otalign.training.checkpoints import RunKey
from otalign.training.dev import DevSet
from otalign.training.distillation import NO_TEACHER, Distillation
from otalign.training.epochs import find_best_scores
from otalign.training.model import Model
from otalign.training.objectives import Objective, make_objective
from otalign.training.options import DEFAULT_OPTIONS, RunOptions
from otalign.training.recipe import Recipe
from otalign.training.result import TrainingResult
from otalign.training.run import TrainingRun
from otalign.training.sources import Sources, TrainingPairs, check_encoder, check_sources
from otalign.training.store import PairTexts, build_store
from otalign.training.stream import ExampleStream


def train(
    encoder: str,
    sources: Sources,
    problem: Problem | Learned,
    recipe: Recipe | None = None,
    *,
    level: Level | None = None,
    distillation: Distillation = NO_TEACHER,
    options: RunOptions = DEFAULT_OPTIONS,
) -> TrainingResult:
    """Train an aligner on several corpora together, and keep its best epoch on their dev sets.

    Args:
        encoder: Folder or name of a pretrained encoder; or, to train it further, the folder of an aligner
            that was trained on the same problem, or the name of an installed model such as `small`.
        sources: Gold pairs for training and for selection, by the name of their corpus.
        problem: `Learned()` to learn the transport itself, or one of the paper's transport problems.
        recipe: Hyperparameters; the default suits the problem and the encoder.
        level: Level of the links to learn. By default learned transport learns both levels, and the paper's
            problems the sure links.
        distillation: Teachers of learned transport, and unlabelled pairs for them to annotate.
        options: Hardware, checkpoint and progress.

    Returns:
        The aligner with its scores.

    Raises:
        ValueError: If the inputs do not belong together, or the checkpoint is that of another training.
            Inputs are validated before training starts.

    Example:
        >>> from otalign.io import load
        >>> from otalign.settings import Learned
        >>> from otalign.training import CorpusSplits, train
        >>> golds = {split: load("mtref", split) for split in ("train", "dev")}  # doctest: +SKIP
        >>> sources = {"mtref": CorpusSplits(golds["train"], golds["dev"])}  # doctest: +SKIP
        >>> result = train("bert-base-uncased", sources, Learned())  # doctest: +SKIP
        >>> result.aligner.save("my-aligner")  # doctest: +SKIP
    """
    check_sources(sources)
    encoder = str(resolve_model(encoder))
    objective = make_objective(problem, level)
    recipe = recipe or objective.choose_recipe(load_settings(Path(encoder)))
    pairs = TrainingPairs.collect(sources, objective.level, balance=recipe.balance)
    base, model, run = _build_run(encoder, sources, pairs, objective, recipe, distillation, options)
    epochs = run.fit()
    aligner = Aligner(_finish_encoder(base, model), model.settings, head=model.export_head())
    unseen = {name: source.unseen_dev for name, source in sources.items()}
    aligner, curves = objective.fit_dev(aligner, model, run.dev, unseen)
    return TrainingResult(aligner, recipe, objective.level, epochs, find_best_scores(curves))


def refit(
    encoder: str,
    sources: Sources,
    result: TrainingResult,
    *,
    distillation: Distillation = NO_TEACHER,
    options: RunOptions = DEFAULT_OPTIONS,
) -> TrainingResult:
    """Train an aligner again from the encoder, on the dev sets too.

    Nothing is chosen again: recipe, epochs, thresholds and calibration are those of the first training.

    Args:
        encoder: Encoder of the first training.
        sources: Corpora of the first training.
        result: Result of the first training.
        distillation: Teachers and unlabelled pairs of the first training.
        options: Hardware, checkpoint and progress.

    Returns:
        The new aligner, with the scores of the first one, since no dev set is left to score it on.

    Raises:
        ValueError: If the inputs do not belong together, or the checkpoint is that of another training.

    Example:
        >>> from otalign.settings import Learned
        >>> from otalign.training import refit, train
        >>> first = train("bert-base-uncased", sources, Learned())  # doctest: +SKIP
        >>> final = refit("bert-base-uncased", sources, first)  # doctest: +SKIP
    """
    recipe, settings = result.recipe, result.aligner.settings
    assert settings.problem is not None
    objective = make_objective(settings.problem, result.level)
    if not recipe.decay:  # a learning rate that does not end by itself ends where it was best
        recipe = recipe.replace(epochs=max(result.epochs, key=lambda epoch: epoch.f1).number, steps=0)
    recipe = recipe.replace(patience=None)
    pairs = TrainingPairs.collect(sources, result.level, with_dev=True, balance=recipe.balance)
    base, model, run = _build_run(
        str(resolve_model(encoder)), sources, pairs, objective, recipe, distillation, options, with_dev=False
    )
    run.fit()
    head = objective.copy_calibration(model.export_head(), result.aligner.head)
    settings = settings.replace(trained=f"{model.settings.trained}, dev sets too")
    return replace(result, aligner=Aligner(_finish_encoder(base, model), settings, head=head))


def _build_run(
    encoder: str,
    sources: Sources,
    pairs: TrainingPairs,
    objective: Objective,
    recipe: Recipe,
    distillation: Distillation,
    options: RunOptions,
    with_dev: bool = True,
) -> tuple[Transformers, Model, TrainingRun]:
    """Load the encoder, check the inputs, and build the model and its run."""
    objective.check_teachers(distillation.teachers)
    texts = distillation.collect_texts(pairs.golds)
    accelerator = make_accelerator(options.device)
    base = load_encoder(encoder, recipe.depth, accelerator.device)
    check_encoder(base, pairs.golds, recipe)
    settings = _make_settings(base, sources, objective, recipe.seed, distillation.teachers)
    torch.manual_seed(recipe.seed)
    model = Model(base, _make_head(base, objective, recipe), objective, settings, recipe)
    dev = {name: source for name, source in sources.items() if with_dev}
    dev_sets = {
        name: DevSet.build(
            PairSet(source.dev, base, settings.pairing),
            (objective.level,) if objective.level else source.dev_levels,
        )
        for name, source in dev.items()
    }
    key = RunKey.compute(
        pairs.golds,
        {name: source.dev for name, source in dev.items()},
        (encoder, list(sources), objective, recipe, distillation.compute_digest(texts, len(pairs.golds))),
    )
    workers = choose_workers(accelerator) if options.workers is None else options.workers
    stream = _make_stream(base, model, pairs, texts, recipe, distillation, options.replace(workers=workers))
    model = model.to(accelerator.device)
    run = TrainingRun(model, stream, dev_sets, recipe, options, key=key, accelerator=accelerator)
    return base, model, run


def _make_stream(
    encoder: Transformers,
    model: Model,
    pairs: TrainingPairs,
    texts: PairTexts,
    recipe: Recipe,
    distillation: Distillation,
    options: RunOptions,
) -> ExampleStream:
    """Make the examples that a model learns, with the teachers' predictions if there are teachers."""
    workers = options.workers or 0
    predictions = distillation.predict(texts, workers, options.progress)
    store = build_store(
        pairs.golds, pairs.known, texts, predictions, recipe.teaching, recipe.unlabelled_weight
    )
    return ExampleStream(
        store,
        encoder.reader,
        model.settings.pairing,
        recipe.augmentation,
        recipe.both_directions,
        recipe.gold_share,
        workers,
        pairs.repeats,
    )


def _make_head(encoder: Transformers, objective: Objective, recipe: Recipe) -> Head:
    """Return the head of the aligner that training continues from, or a new one."""
    saved = load_head(encoder.folder) if encoder.folder else None
    if saved is not None and type(saved) is objective.head_type:
        return saved
    size, random = encoder.model.config.hidden_size, np.random.default_rng(recipe.seed)
    return objective.initialize_head(size, random, recipe)


def _make_settings(
    encoder: Transformers,
    corpora: Iterable[str],
    objective: Objective,
    seed: int,
    teachers: Sequence[Aligner],
) -> AnySettings:
    """Return the settings of the new aligner; an aligner that is trained further keeps its pairing."""
    saved = load_settings(encoder.folder) if encoder.folder else None
    before = saved.trained if saved else None
    trained = " ".join([*corpora, *([objective.level] if objective.level else [])])
    trained = f"{before}; {trained}" if before else trained
    taught = f", taught by {_name_teachers(teachers)}" if teachers else ""
    return objective.make_settings(
        saved.encoder if saved else encoder.name,
        encoder.layer,
        saved.pairing if saved and before else objective.pairing,
        f"{trained}, seed {seed}{taught}",
    )


def _name_teachers(teachers: Sequence[Aligner]) -> str:
    """Name the encoders of teachers, each with their number: mpnet-base × 3."""
    counts = Counter(teacher.settings.encoder for teacher in teachers)
    return ", ".join(name if count == 1 else f"{name} × {count}" for name, count in counts.items())


def _finish_encoder(encoder: Transformers, model: Model) -> Transformers:
    """Give the encoder the mix of layers that was learned."""
    encoder.trained = True
    mix = model.compute_mix()
    encoder.mix = None if mix is None else to_numpy(mix.detach())
    encoder.model.eval()
    return encoder
