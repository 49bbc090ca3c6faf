"""Training of tiny models in a second or less."""

from typing import Any

import numpy as np

from otalign.alignment import Level
from otalign.ot import Unbalanced
from otalign.settings import Learned
from otalign.training import NO_AUGMENTATION, PAPER, Distillation, Recipe, RunOptions, TrainingResult, train
from otalign.training.distillation import NO_TEACHER
from tests.training.examples import SOURCES

QUICK = Recipe(
    learning_rate=3e-3,
    head_lr_multiplier=3.0,
    batch_size=7,
    epochs=12,
    steps=0,
    ema_share=0.3,
    augmentation=NO_AUGMENTATION,
)
QUICK_PAPER = PAPER.replace(learning_rate=3e-3, batch_size=7, epochs=12, patience=None)
PROBLEMS = {"learned": (Learned(), QUICK), "uot": (Unbalanced(0.5), QUICK_PAPER)}


def train_tiny(
    folder: Any,
    problem: Any = Learned(),
    recipe: Recipe = QUICK,
    sources: Any = SOURCES,
    *,
    level: Level | None = None,
    distillation: Distillation = NO_TEACHER,
    **options: Any,
) -> TrainingResult:
    """Train on the CPU; further options are those of `RunOptions`."""
    run = RunOptions(device="cpu", **options)
    return train(str(folder), sources, problem, recipe, level=level, distillation=distillation, options=run)


def get_weights(result: TrainingResult) -> dict[str, np.ndarray]:
    """Return all that was learned, by name."""
    encoder = {name: x.numpy() for name, x in result.aligner.encoder.model.state_dict().items()}
    assert result.aligner.head
    mix = result.aligner.encoder.mix
    return encoder | result.aligner.head.arrays() | ({} if mix is None else {"mix": mix})


def drop_seconds(epochs: Any) -> list[dict]:
    """Return epochs as dictionaries without the time that they took."""
    return [{k: v for k, v in epoch.to_dict().items() if k != "seconds"} for epoch in epochs]
