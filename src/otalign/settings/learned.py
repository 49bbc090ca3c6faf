"""Settings of an aligner whose scores were learned."""

import dataclasses
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Self, get_args

from otalign.alignment import LEVELS, Level
from otalign.encoders import Pairing
from otalign.settings.fields import build_by_name, check_encoder, check_fields
from otalign.settings.transport import Settings, SettingsOptions, check_options
from otalign.validation import check_choice, check_share

LEARNED = "learned"


def _check_hysteresis(name: str, value: Any) -> None:
    check_share(name, value)
    if value == 1:
        raise ValueError(f"{name} must be less than 1, got {value}: every word beside a link would be linked")


@dataclass(frozen=True)
class Learned:
    """Transport that a trained head has learned, with a threshold and a hysteresis for each level of links.

    Attributes:
        sure: Threshold of sure links.
        possible: Threshold of possible links.
        sure_hysteresis: Fraction by which the threshold of a sure link beside another one is reduced.
        possible_hysteresis: The same for possible links.
    """

    sure: float = 0.5
    possible: float = 0.5
    sure_hysteresis: float = 0.0
    possible_hysteresis: float = 0.0

    def __post_init__(self) -> None:
        for name in LEVELS:
            check_share(name, getattr(self, name))
            _check_hysteresis(f"{name}_hysteresis", getattr(self, f"{name}_hysteresis"))


@dataclass(frozen=True, kw_only=True)
class LearnedSettings:
    """Settings of an aligner whose transport was learned.

    Attributes:
        encoder: Name or folder of the encoder that was fine-tuned.
        layer: Encoder layer; 0 is the embedding layer.
        pairing: How the two sentences are encoded; `canonical` makes the links independent of which sentence
            is the source.
        problem: The best thresholds and hysteresis of both levels.
        links: Links to return: the sure ones, or all possible ones.
        threshold: Minimum probability of a link. The default is that of the level.
        hysteresis: Fraction by which the threshold is reduced beside another link, that is, one of the same
            word to the word before or after. This completes phrases. The default is that of the level.
        trained: Description of the training data.
    """

    encoder: str
    layer: int
    pairing: Pairing = "joint"
    problem: Learned = Learned()
    links: Level = "sure"
    threshold: float = None  # pyright: ignore[reportAssignmentType]: set below
    hysteresis: float = None  # pyright: ignore[reportAssignmentType]: set below
    trained: str | None = None

    centring: ClassVar[bool] = False
    whitening: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        check_encoder(self.encoder, self.layer, self.trained)
        check_choice("pairing", self.pairing, get_args(Pairing))
        check_choice("links", self.links, get_args(Level))
        if self.threshold is None:
            object.__setattr__(self, "threshold", getattr(self.problem, self.links))
        if self.hysteresis is None:
            object.__setattr__(self, "hysteresis", getattr(self.problem, f"{self.links}_hysteresis"))
        check_share("threshold", self.threshold)
        _check_hysteresis("hysteresis", self.hysteresis)

    def replace(self, **changes: Any) -> Self:
        """Return a copy with other values; other links bring their own threshold and hysteresis."""
        if changes.get("links", self.links) != self.links:
            changes = {"threshold": None, "hysteresis": None} | changes
        return dataclasses.replace(self, **changes)

    def apply_options(self, options: SettingsOptions, model: str) -> Self:
        """Return a copy with the options of `Aligner.load`.

        Args:
            options: The options, of which only links and threshold may differ from the settings.
            model: Name of the model, for error messages.

        Returns:
            The copy.

        Raises:
            ValueError: If another option differs.
        """
        check_options(options)
        for name, value in options.items():
            if name not in ("links", "threshold") and value != getattr(self, name, None):
                raise ValueError(
                    f"{name} must be left out: the model {Path(model).name} has learned its transport, and "
                    f"takes only links and threshold; for another {name}, give model= an encoder that was "
                    "not trained"
                )
        return self.replace(**options)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON-serializable values."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return values | {"problem": {"name": LEARNED, **asdict(self.problem)}}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "LearnedSettings":
        """Return the settings that `to_dict` wrote. Fields that only `Settings` has are ignored."""
        check_fields(data, cls, {field.name for field in fields(Settings)})
        known = {field.name for field in fields(cls)}
        problem = {"problem": build_by_name("problem", data["problem"], {LEARNED: Learned})}
        return cls(**({key: value for key, value in data.items() if key in known} | problem))

    @property
    def problem_name(self) -> str:
        """The name `learned`."""
        return LEARNED

    def discard_training(self) -> Settings:
        """Return settings that use the encoder without anything that was learned."""
        return Settings(encoder=self.encoder, layer=self.layer, pairing=self.pairing, centring=False)

    def get_options(self) -> dict[str, Any]:
        """Return the options that users may change, by their names in the command line and the server."""
        return {"problem": LEARNED, "threshold": self.threshold, "links": self.links}

    def signature_fields(self) -> dict[str, object]:
        """Return the fields of a signature; everything else that determines the links is in the weights."""
        result: dict[str, object] = {field.name: getattr(self, field.name) for field in fields(self)}
        if not self.hysteresis:
            del result["hysteresis"]
        return result | {"problem": LEARNED}
