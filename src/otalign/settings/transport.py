"""Settings of an aligner that solves a transport problem."""

import dataclasses
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Literal, TypedDict, get_args

from otalign.alignment import Level
from otalign.encoders import Pairing
from otalign.ot import Entropic, Exact, Partial, Problem, Solver
from otalign.problems import PARAMETERS, PROBLEMS, ProblemName, build_problem, find_spec
from otalign.settings.fields import build_by_name, check_encoder, check_fields
from otalign.suggestions import suggest
from otalign.validation import check_choice, check_share

Cost = Literal["cosine", "euclidean"]
Fertility = Literal["uniform", "norm", "length"]

SOLVERS = {"entropic": Entropic, "exact": Exact}
WHITENING, SMOOTHING, DISTORTION = 0.5, 0.15, 0.2
ORDER, STRUCTURE, MUTUALITY, COMPLETION = 0.0, 0.0, 0.0, 0.0
# Settings for phrases, which a signature names only if they are not 0.
PHRASES = ("order", "structure", "mutuality", "completion")


class SettingsOptions(TypedDict, total=False):
    """Keyword arguments of `Aligner.load` that change the settings; see `Settings`."""

    pairing: Pairing
    centring: bool
    whitening: float
    cost: Cost
    smoothing: float
    distortion: float
    order: float
    structure: float
    mutuality: float
    completion: float
    fertility: Fertility
    problem: Problem | ProblemName | None
    tau: float
    fraction: float
    solver: Solver
    threshold: float
    links: Level


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of an aligner that solves a transport problem. The defaults are for use without a dev set.

    Attributes:
        encoder: Name or folder of the encoder.
        layer: Encoder layer; 0 is the embedding layer.
        pairing: Whether the two sentences are encoded together (`joint`) or each alone (`separate`).
        centring: Whether the mean embedding is subtracted.
        whitening: Degree of whitening, from 0 (none) to 1 (equal variances). The default is 0 without
            centring.
        cost: Distance of two word vectors: `cosine` or `euclidean`.
        smoothing: Weight of the similarity of neighbouring words, from 0 to 1.
        distortion: Penalty for words at different relative positions, from 0 to 1.
        order: Reward for neighbours that are linked to neighbours, from 0 to 1.
        structure: Weight of fused Gromov–Wasserstein between the positions of the words, from 0 to 1, instead
            of order. Both have no effect without a problem.
        mutuality: Degree to which scores are lower where the similarity of two words is not mutual, and where
            few words of the pair have a mutual partner, from 0 to 1.
        completion: Degree to which words without a link join the links of words nearby, from 0 to 1.
        fertility: Mass of a word: uniform, the norm of its vector, or growing with its length in letters.
        problem: Transport problem; None applies the threshold to the similarity of words.
        solver: Solver of the transport problem.
        threshold: Minimum score of a link, from 0 to 1. The default depends on the problem.
        trained: Description of the training data, if the encoder was fine-tuned.

    Raises:
        TypeError: If a value is of the wrong type.
        ValueError: If a value is out of its range.

    Example:
        >>> from otalign import Settings, Unbalanced
        >>> Settings(encoder="bert-base-uncased", layer=8, problem=Unbalanced(0.4)).problem_name
        'uot'
    """

    encoder: str
    layer: int
    pairing: Pairing = "joint"
    centring: bool = True
    whitening: float = None  # pyright: ignore[reportAssignmentType]: set below
    cost: Cost = "cosine"
    smoothing: float = SMOOTHING
    distortion: float = DISTORTION
    order: float = ORDER
    structure: float = STRUCTURE
    mutuality: float = MUTUALITY
    completion: float = COMPLETION
    fertility: Fertility = "uniform"
    problem: Problem | None = Partial(1.0)
    solver: Solver = Entropic(tol=1e-3)  # with 1e-4, 5 links in 10,000 differ, and it takes twice as long
    threshold: float = None  # pyright: ignore[reportAssignmentType]: set below
    trained: str | None = None

    links: ClassVar[Level] = "sure"
    hysteresis: ClassVar[float] = 0.0  # only a trained aligner may have another

    def __post_init__(self) -> None:
        check_encoder(self.encoder, self.layer, self.trained)
        for name, type_ in (("pairing", Pairing), ("cost", Cost), ("fertility", Fertility)):
            check_choice(name, getattr(self, name), get_args(type_))
        spec = find_spec(self.problem)
        if not isinstance(self.solver, Solver):
            raise TypeError(f"solver must be Entropic or Exact, got {self.solver!r}")
        if not isinstance(self.centring, bool):
            raise TypeError(f"centring must be True or False, got {self.centring!r}")
        if self.threshold is None:
            object.__setattr__(self, "threshold", spec.threshold)
        if self.whitening is None:
            object.__setattr__(self, "whitening", WHITENING if self.centring else 0.0)
        for name in ("threshold", "whitening", "smoothing", "distortion", *PHRASES):
            check_share(name, getattr(self, name))
        if self.order and self.structure:
            got = f"{self.order} and {self.structure}"
            raise ValueError(f"order and structure must not both be above 0, got {got}; choose one")
        if self.whitening and not self.centring:
            raise ValueError(f"whitening must be 0 without centring, got {self.whitening}")

    def replace(self, **changes: Any) -> "Settings":
        """Return a copy with other values.

        Another kind of problem brings its default threshold, and without centring there is no whitening.

        Args:
            **changes: The other values, by field.
        """
        if type(changes.get("problem", self.problem)) is not type(self.problem):
            changes.setdefault("threshold", None)
        if changes.get("centring", self.centring) is False:
            changes.setdefault("whitening", None)
        return dataclasses.replace(self, **changes)

    def apply_options(self, options: SettingsOptions, model: str) -> "Settings":
        """Return a copy with the options of `Aligner.load`.

        Args:
            options: The options. A parameter alone selects its problem.
            model: Name of the model, for error messages.

        Returns:
            The copy.

        Raises:
            ValueError: If an option does not apply.
        """
        check_options(options)
        changes: dict[str, Any] = {**options}
        if changes.pop("links", "sure") != "sure":
            raise ValueError(
                "links must be 'sure' for an aligner that has not learned levels, got 'possible'"
            )
        parameters = {name: changes.pop(name) for name in PARAMETERS if name in changes}
        for name in parameters:
            changes.setdefault("problem", PARAMETERS[name].name)
        if "problem" in changes:
            changes["problem"] = build_problem(changes["problem"], **parameters)
        return self.replace(**changes)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON-serializable values."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        problem = None if self.problem is None else {"name": self.problem_name, **asdict(self.problem)}
        (solver,) = (name for name, type_ in SOLVERS.items() if type_ is type(self.solver))
        return values | {"problem": problem, "solver": {"name": solver, **asdict(self.solver)}}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Settings":
        """Return the settings that `to_dict` wrote.

        Args:
            data: The dictionary.
        """
        check_fields(data, cls, {"links"})
        types: dict[str, Any] = {name: spec.type for name, spec in PROBLEMS.items() if name != "none"}
        parts = {
            name: build_by_name(name, data[name], kinds)
            for name, kinds in (("problem", types), ("solver", SOLVERS))
            if name in data
        }
        return cls(**({key: value for key, value in data.items() if key != "links"} | parts))

    @property
    def problem_name(self) -> str:
        """Name of the transport problem."""
        return find_spec(self.problem).name

    def discard_training(self) -> "Settings":
        """Return settings that use the encoder without anything that was learned: these."""
        return self

    def get_options(self) -> dict[str, Any]:
        """Return the options that users often change, by their names in the command line and the server."""
        options = {"problem": self.problem_name, "threshold": self.threshold, "distortion": self.distortion}
        if isinstance(self.solver, Entropic) and self.problem is not None:
            options["epsilon"] = self.solver.eps
        spec = find_spec(self.problem)
        if spec.parameter:
            options[spec.parameter.name] = spec.get_value(self.problem)
        return options

    def signature_fields(self) -> dict[str, object]:
        """Return the fields of a signature, with the parameters of problem and solver beside their names."""
        result: dict[str, object] = {}
        for name, value in self.to_dict().items():
            if (name == "trained" and value is None) or (name in PHRASES and not value):
                continue
            if isinstance(value, dict):
                result[name] = value.pop("name")
                result |= value
            else:
                result[name] = value
        if result.get("tau_source") == result.get("tau_target"):
            result = {"tau" if k == "tau_source" else k: v for k, v in result.items() if k != "tau_target"}
        return result | {"problem": result["problem"] or "none"}


# The other options of Aligner.load, which its message may suggest.
LOAD_OPTIONS = ("model", "layer", "device", "threads", "batch_size", "precision")


def check_options(options: Mapping[str, Any]) -> None:
    """Check that options are among those of `Aligner.load`."""
    known = (*SettingsOptions.__annotations__, *LOAD_OPTIONS)
    for name in sorted(options.keys() - SettingsOptions.__annotations__.keys()):
        raise TypeError(f"{name} is not an option of Aligner.load{suggest(name, known) or '; see Settings'}")
