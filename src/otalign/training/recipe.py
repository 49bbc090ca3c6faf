"""Recipes: everything but data and encoder that determines the weights of an aligner, in one value."""

import math
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from otalign.training.augmentation import NO_AUGMENTATION, Augmentation

OptimizerName = Literal["adamw", "adafactor"]
HeadPart = Literal["competition", "prices", "neighbours", "spelling", "support"]
EPOCHS, STEPS = 6, 600
MAX_EPOCHS = 30  # limit for a small corpus, which is read more often


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Hyperparameters of a training. The defaults are for learned transport.

    Attributes:
        learning_rate: Highest learning rate of the encoder.
        head_lr_multiplier: Factor of the learning rate for weights that are not pretrained.
        optimizer: Optimizer, `adamw` or `adafactor`.
        batch_size: Pairs per step.
        epochs: Maximum number of epochs. The default is 6, and more for a small corpus, until `steps` are
            reached.
        steps: Minimum number of steps; a small corpus is read up to 30 times to reach them. The default is
            600, or 0 if `epochs` is given.
        patience: Epochs without a better dev F1 after which training stops; None to never stop early.
        delta: Minimum improvement of dev F1.
        decay: Whether the learning rate rises over a tenth of the steps and then falls to 0.
        ema_share: Share of the steps over which the moving average of the weights extends; 0 keeps the
            weights themselves.
        both_directions: Whether each pair is read target first half of the time.
        depth: Number of the encoder's first layers to keep; None for all.
        layers: Number of the last of these layers that are mixed.
        ablate: Parts of learned transport to leave out, to measure what they contribute.
        teaching: Share of the teachers in the targets of gold pairs.
        unlabelled_weight: Weight of an unlabelled pair, where that of a gold pair is 1.
        gold_share: Share of gold pairs among the pairs of an epoch; gold is repeated to reach it.
        balance: Size that a small corpus gets by repetition, relative to the largest of several.
        augmentation: Shares of augmented copies.
        seed: Seed of all random numbers.

    Raises:
        ValueError: If a value is out of its range.

    Example:
        >>> recipe = Recipe(epochs=4).replace(seed=7)
        >>> recipe.epochs, recipe.steps, recipe.seed
        (4, 0, 7)
    """

    learning_rate: float = 1e-4
    head_lr_multiplier: float = 10.0
    optimizer: OptimizerName = "adamw"
    batch_size: int = 32
    epochs: int = None  # pyright: ignore[reportAssignmentType]: set below
    steps: int = None  # pyright: ignore[reportAssignmentType]: set below
    patience: int | None = None
    delta: float = 1e-4
    decay: bool = True
    ema_share: float = 0.4
    both_directions: bool = True
    depth: int | None = None
    layers: int = 4
    ablate: tuple[HeadPart, ...] = ()
    teaching: float = 0.5
    unlabelled_weight: float = 0.8
    gold_share: float = 0.2
    balance: float = 0.5
    augmentation: Augmentation = Augmentation()  # noqa: RUF009 (frozen)
    seed: int = 1

    def __post_init__(self) -> None:
        if self.steps is None:
            object.__setattr__(self, "steps", STEPS if self.epochs is None else 0)
        if self.epochs is None:
            object.__setattr__(self, "epochs", EPOCHS)
        for name, values, choices in (
            ("optimizer", (self.optimizer,), get_args(OptimizerName)),
            ("ablate", self.ablate, get_args(HeadPart)),
        ):
            for value in values:
                if value not in choices:
                    known = ", ".join(map(repr, choices))
                    raise ValueError(f"{name} must be one of {known}, got {value!r}")
        for name, least in (("batch_size", 1), ("epochs", 1), ("steps", 0), ("layers", 1), ("depth", 1)):
            if getattr(self, name) is not None and getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, got {getattr(self, name)}")
        if not 0 < self.learning_rate < 1:
            raise ValueError(f"learning_rate must be above 0 and below 1, got {self.learning_rate}")
        if self.patience is not None and self.patience < 1:
            raise ValueError(f"patience must be at least 1, or None to never stop early, got {self.patience}")
        for name in ("teaching", "unlabelled_weight", "balance"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be from 0 to 1, got {getattr(self, name)}")
        for name in ("ema_share", "gold_share"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 0 and below 1, got {getattr(self, name)}")

    def replace(self, **changes: Any) -> "Recipe":
        """Return a copy with other values. A number of epochs alone is not extended to reach `steps`.

        Args:
            **changes: The other values, by field.
        """
        return replace(self, **({"steps": 0} | changes if "epochs" in changes else changes))

    def count_epochs(self, steps: int) -> int:
        """Return the maximum number of epochs, given the steps of each.

        Args:
            steps: Number of steps of an epoch.
        """
        return max(self.epochs, min(MAX_EPOCHS, math.ceil(self.steps / steps)))

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as JSON-serializable values."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return values | {"ablate": list(self.ablate), "augmentation": self.augmentation.to_dict()}


# Arase, Bao and Yokoi (2023). They search the learning rate, from 5e-5 to 2.5e-4, on the dev set.
PAPER = Recipe(
    head_lr_multiplier=1.0,
    optimizer="adafactor",
    batch_size=64,
    epochs=30,
    steps=0,
    patience=3,
    decay=False,
    ema_share=0.0,
    both_directions=False,
    layers=1,
    balance=0.0,
    augmentation=NO_AUGMENTATION,
)

# For an aligner that was trained on more corpora and is to be trained further on one.
FURTHER = Recipe(learning_rate=5e-5, batch_size=16, epochs=2, steps=360, ema_share=0.1)
