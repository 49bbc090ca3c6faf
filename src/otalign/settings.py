"""All that decides an alignment but the encoder's weights: one value, to print, to save, to get again."""

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args

from otalign.encoders import Pairing
from otalign.ot import Balanced, Entropic, Exact, Partial, Problem, Solver, Unbalanced

Cost = Literal["cosine", "euclidean"]
Fertility = Literal["uniform", "norm"]
Links = Literal["sure", "possible"]  # of a trained aligner: those that are sure, or all that are possible


@dataclass(frozen=True)
class Learned:
    """The transport that a head has learned, and the thresholds at which its links are best."""

    sure: float = 0.5
    possible: float = 0.5

    def __post_init__(self):
        for name, value in (("sure", self.sure), ("possible", self.possible)):
            if not 0 <= value <= 1:
                raise ValueError(f"{name} must be from 0 to 1, got {value}")


PROBLEMS = {"bot": Balanced, "pot": Partial, "uot": Unbalanced, "learned": Learned}
SOLVERS = {"entropic": Entropic, "exact": Exact}

# Chosen on the pooled dev sets of the corpora with MiniLM-L6 (layer 4) and MPNet-base (layer 5), jointly
# encoded; thresholds are halfway between the best for the one and for the other (docs/results.md).
WHITENING, SMOOTHING, DISTORTION = 0.5, 0.15, 0.2
TAU, FRACTION = 0.8, 1.0
THRESHOLDS = {Balanced: 0.48, Partial: 0.34, Unbalanced: 0.36, type(None): 0.71}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How an aligner goes from sentences to links. A problem of None is a threshold on the costs alone.

    The defaults are for use without a dev set. A threshold that is not given is the one that suits the
    problem; whitening that is not given is none without centring. `trained` says on what it was, if it was.
    """

    encoder: str
    layer: int
    pairing: Pairing = "joint"
    centring: bool = True
    whitening: float = None  # pyright: ignore[reportAssignmentType]: set below
    cost: Cost = "cosine"
    smoothing: float = SMOOTHING
    distortion: float = DISTORTION
    fertility: Fertility = "uniform"
    problem: Problem | Learned | None = Partial(FRACTION)
    solver: Solver = Entropic(tol=1e-3)  # by 1e-4, 5 links in 10,000 differ, and it takes twice as long
    threshold: float = None  # pyright: ignore[reportAssignmentType]: set below
    links: Links = "sure"
    trained: str | None = None

    def __post_init__(self):
        for name, type_ in (("pairing", Pairing), ("cost", Cost), ("fertility", Fertility), ("links", Links)):
            value, known = getattr(self, name), get_args(type_)
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}, got {value!r}")
        for name, type_, said in (("encoder", str, "a name"), ("layer", int, "a number")):
            if not isinstance(getattr(self, name), type_):
                raise TypeError(f"{name} must be {said}, got {getattr(self, name)!r}")
        if not isinstance(self.trained, str | None):
            raise TypeError(f"trained must be a text or None, got {self.trained!r}")
        if not isinstance(self.problem, Problem | Learned | None):
            raise TypeError(f"problem must be Balanced, Partial, Unbalanced or None, got {self.problem!r}")
        if self.links == "possible" and not isinstance(self.problem, Learned):
            raise ValueError("links must be 'sure' unless the aligner has learned which are, got 'possible'")
        if not isinstance(self.solver, Solver):
            raise TypeError(f"solver must be Entropic or Exact, got {self.solver!r}")
        if self.threshold is None:
            object.__setattr__(self, "threshold", self._best_threshold)
        if self.whitening is None:
            object.__setattr__(self, "whitening", WHITENING if self.centring else 0.0)
        if not isinstance(self.centring, bool):
            raise TypeError(f"centring must be True or False, got {self.centring!r}")
        for name in ("threshold", "whitening", "smoothing", "distortion"):
            value = getattr(self, name)
            if not isinstance(value, int | float):
                raise TypeError(f"{name} must be a number, got {value!r}")
            if not 0 <= value <= 1:
                raise ValueError(f"{name} must be from 0 to 1, got {value}")

        if self.whitening and not self.centring:
            raise ValueError(f"whitening must be 0 without centring, got {self.whitening}")

    @property
    def transport(self) -> Problem | None:
        """The problem, where it is one to be solved."""
        if isinstance(self.problem, Learned):
            raise ValueError("problem must be Balanced, Partial, Unbalanced or None here, got Learned()")
        return self.problem

    @property
    def _best_threshold(self) -> float:
        if isinstance(self.problem, Learned):
            return getattr(self.problem, self.links)
        return THRESHOLDS[type(self.problem)]

    def changed(self, **changes: Any) -> "Settings":
        """The same with other values; a problem of another kind, or other links, bring their own threshold,
        and what is not to be centred is not whitened."""
        other = type(changes.get("problem", self.problem)) is not type(self.problem)
        if other or changes.get("links", self.links) != self.links:
            changes.setdefault("threshold", None)
        if changes.get("centring", self.centring) is False:
            changes.setdefault("whitening", None)
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """What JSON can hold."""
        said = {field.name: getattr(self, field.name) for field in fields(self)}
        return said | {"problem": _named(self.problem, PROBLEMS), "solver": _named(self.solver, SOLVERS)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Settings":
        """What `to_dict` gave."""
        known = {field.name for field in fields(cls)}
        for name in sorted(data.keys() - known):
            raise ValueError(f"settings must be of {', '.join(sorted(known))}, got {name!r}")
        parts = {name: _made(name, data[name], kinds) for name, kinds in KINDS.items() if name in data}
        return cls(**(data | parts))

    def fields(self) -> dict[str, object]:
        """What a signature tells of them, `key: value`, with the choices of problem and solver laid flat."""
        if isinstance(self.problem, Learned):  # all else is in the weights
            told: dict[str, object] = {name: getattr(self, name) for name in LEARNED_FIELDS}
            return told | {"problem": "learned"}
        told = {}
        for name, value in self.to_dict().items():
            if name == "links" or (name == "trained" and value is None):
                continue
            if isinstance(value, dict):
                told[name] = value.pop("name")
                told |= value
            else:
                told[name] = value
        if told.get("tau_source") == told.get("tau_target"):
            told = {"tau" if key == "tau_source" else key: told[key] for key in told if key != "tau_target"}
        return told | {"problem": told["problem"] or "none"}


LEARNED_FIELDS = ("encoder", "layer", "pairing", "problem", "links", "threshold", "trained")
KINDS: dict[str, dict[str, Any]] = {"problem": PROBLEMS, "solver": SOLVERS}


def _named(value: Problem | Learned | Solver | None, kinds: dict[str, Any]) -> dict[str, Any] | None:
    if value is None:
        return None
    (name,) = (name for name, kind in kinds.items() if isinstance(value, kind))
    return {"name": name, **asdict(value)}


def _made(which: str, data: dict[str, Any] | None, kinds: dict[str, Any]) -> Any:
    if data is None:
        return None
    if not isinstance(data, dict) or data.get("name") not in kinds:
        raise ValueError(f"{which} must hold a name, one of {', '.join(kinds)}, got {data!r}")
    return kinds[data["name"]](**{key: value for key, value in data.items() if key != "name"})
