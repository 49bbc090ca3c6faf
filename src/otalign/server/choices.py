"""What an aligner leaves to those who ask: which problem, and under it which parameters.

A trained aligner has learned its transport, of which only the level of the links and the threshold can be
chosen; but its encoder's embeddings can be transported in the other ways too, and are, by the package's
defaults. A pair must get the same links whoever else asks, so embeddings are centred only on a kept centre.
"""

from dataclasses import dataclass
from typing import Any

from otalign.aligner import Aligner
from otalign.ot import Balanced, Entropic, Partial, Unbalanced
from otalign.scoring.heads import Head, LearnedTransport
from otalign.settings import FRACTION, PROBLEMS, TAU, Learned, Settings

TRANSPORTS = {"bot": Balanced(), "pot": Partial(FRACTION), "uot": Unbalanced(TAU), "none": None}


@dataclass(frozen=True)
class Choices:
    """The settings of an aligner for each problem that it can be asked for, by the problem's name."""

    default: str
    settings: dict[str, Settings]
    head: Head | None

    @classmethod
    def of(cls, aligner: Aligner) -> "Choices":
        own = aligner.settings
        if aligner.centre is None and own.centring:
            own = own.changed(centring=False)
        if not isinstance(own.problem, Learned):
            offered = {name: own.changed(problem=problem) for name, problem in TRANSPORTS.items()}
            return cls(_name(own), offered | {_name(own): own}, aligner.head)
        plain = Settings(encoder=own.encoder, layer=own.layer, pairing=own.pairing, centring=False)
        offered = {name: plain.changed(problem=problem) for name, problem in TRANSPORTS.items()}
        return cls("learned", {"learned": own} | offered, aligner.head)

    def chosen(self, problem: str | None = None, **said: Any) -> Settings:
        """Those of a problem, with what else was said; None is what was not said."""
        said = {name: value for name, value in said.items() if value is not None}
        base = self.settings[problem or self.default]
        if "epsilon" in said:
            said["solver"] = Entropic(said.pop("epsilon"), tol=Settings.solver.tol)
        if "tau" in said:
            said["problem"] = Unbalanced(said.pop("tau"))
        if "fraction" in said:
            said["problem"] = Partial(said.pop("fraction"))
        return base.changed(**said)

    def head_for(self, settings: Settings) -> Head | None:
        """What has learned something for these settings."""
        learned = isinstance(self.head, LearnedTransport)
        return self.head if learned == isinstance(settings.problem, Learned) else None


def told(settings: Settings) -> dict[str, Any]:
    """What was chosen, under the names that `chosen` has for it."""
    told: dict[str, Any] = {"problem": _name(settings), "threshold": settings.threshold}
    if isinstance(settings.problem, Learned):
        return told | {"links": settings.links}
    told["distortion"] = settings.distortion
    if isinstance(settings.solver, Entropic) and settings.problem is not None:
        told["epsilon"] = settings.solver.eps
    match settings.problem:
        case Partial(fraction):
            told["fraction"] = fraction
        case Unbalanced(tau_source=tau):
            told["tau"] = tau
    return told


def _name(settings: Settings) -> str:
    if settings.problem is None:
        return "none"
    (name,) = (name for name, kind in PROBLEMS.items() if isinstance(settings.problem, kind))
    return name
