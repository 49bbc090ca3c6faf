"""How an aligner is trained: all that decides its weights but the data and the encoder, in one value."""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from otalign.ot import Problem
from otalign.settings import Learned
from otalign.training.augmentation import NO_AUGMENTATION, Augmentation

Optimizer = Literal["adamw", "adafactor"]
Part = Literal["competition", "prices", "neighbours"]  # of a learned transport
MOST_EPOCHS = 30  # to make up for pairs that are few


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The defaults are for a learned transport; `PAPER` is the recipe of Arase, Bao and Yokoi (2023)."""

    learning_rate: float = 1e-4
    head_pace: float = 10.0  # how much faster what is not pretrained is learned
    optimizer: Optimizer = "adamw"
    batch_size: int = 32
    epochs: int = 6  # at most; but more, up to `MOST_EPOCHS`, where pairs are so few that …
    steps: int = 600  # … these are fewer steps than this
    patience: int | None = None  # epochs without a better dev F1 after which training ends; None: never
    delta: float = 1e-4  # by which a dev F1 must be higher to be better
    decay: bool = True  # the learning rate rises over a tenth of the steps, then falls to nothing
    average: float = 0.4  # kept is a moving average of the weights, over about this share of the steps
    both_directions: bool = True  # each pair is read target first half of the time
    depth: int | None = None  # the first layers of the encoder, that are kept; None: all
    layers: int = 4  # the last ones of these, that are mixed
    without: tuple[Part, ...] = ()  # to see what it is good for
    teaching: float = 0.5  # share of the teachers in the targets of gold pairs, where there are any
    unlabelled_weight: float = 0.8  # weight of unlabelled pairs, beside 1 of gold pairs
    gold_share: float = 0.2  # of the pairs of an epoch beside unlabelled ones; gold is repeated to reach it
    augmentation: Augmentation = Augmentation()  # noqa: RUF009 (frozen)
    seed: int = 1

    def __post_init__(self):
        for name, values, type_ in (
            ("optimizer", (self.optimizer,), Optimizer),
            ("without", self.without, Part),
        ):
            for value in values:
                if value not in get_args(type_):
                    known = ", ".join(map(repr, get_args(type_)))
                    raise ValueError(f"{name} must be of {known}, got {value!r}")
        for name, least in (("batch_size", 1), ("epochs", 1), ("steps", 0), ("layers", 1), ("depth", 1)):
            if getattr(self, name) is not None and getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, got {getattr(self, name)}")
        if not 0 < self.learning_rate < 1:
            raise ValueError(f"learning_rate must be above 0 and below 1, got {self.learning_rate}")
        if self.patience is not None and self.patience < 1:
            raise ValueError(f"patience must be at least 1, or None to never stop early, got {self.patience}")
        if not 0 <= self.average < 1:
            raise ValueError(f"average must be at least 0 and below 1, got {self.average}")
        for name in ("teaching", "unlabelled_weight"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be from 0 to 1, got {getattr(self, name)}")
        if not 0 <= self.gold_share < 1:
            raise ValueError(f"gold_share must be at least 0 and below 1, got {self.gold_share}")

    def replace(self, **changes: Any) -> "Recipe":
        return replace(self, **changes)

    def epochs_of(self, steps: int) -> int:
        """How many there are at most, of so many steps each."""
        return max(self.epochs, min(MOST_EPOCHS, math.ceil(self.steps / steps)))

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


# The paper searches the learning rate, from 5e-5 to 2.5e-4, on the dev set.
PAPER = Recipe(
    head_pace=1.0,
    optimizer="adafactor",
    batch_size=64,
    epochs=30,
    steps=0,
    patience=3,
    decay=False,
    average=0.0,
    both_directions=False,
    layers=1,
    augmentation=NO_AUGMENTATION,
)

# For going on from an aligner that was trained on more, towards one corpus.
FURTHER = Recipe(learning_rate=5e-5, batch_size=16, epochs=2, steps=360, average=0.1)


def recipe_for(problem: Problem | Learned) -> Recipe:
    return Recipe() if isinstance(problem, Learned) else PAPER
