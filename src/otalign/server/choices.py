"""The settings that a request may choose: a transport problem and its parameters.

For a learned aligner these are the level of the links and the threshold. Requests may also choose a transport
problem on the embeddings of its encoder, with the default settings.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from otalign.aligner import Aligner
from otalign.ot import Entropic
from otalign.problems import PARAMETERS, PROBLEMS
from otalign.settings import AnySettings, Settings

SMALL_EPSILON = 0.02


@dataclass(frozen=True)
class ServedChoice:
    """An aligner with the settings of a request.

    Attributes:
        problem: Name of the problem.
        settings: The settings.
        aligner: The aligner with these settings.
    """

    problem: str
    settings: AnySettings
    aligner: Aligner

    @cached_property
    def header(self) -> dict[str, Any]:
        """The fields of an answer that say how it was computed."""
        return {"settings": self.settings.get_options(), "signature": self.aligner.signature}

    @property
    def slow(self) -> bool:
        """True if the solver takes many iterations."""
        solver = getattr(self.settings, "solver", None)
        return isinstance(solver, Entropic) and solver.eps < SMALL_EPSILON

    @property
    def depends_on_request(self) -> bool:
        """True if embeddings are centred on the pairs of the same request."""
        return self.settings.centring and self.aligner.centre is None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ServedChoice) and self.settings == other.settings

    def __hash__(self) -> int:
        return hash(self.settings)


class Choices:
    """The choices that an aligner offers, by the name of their problem."""

    def __init__(self, aligner: Aligner) -> None:
        own, plain = aligner.settings, aligner.settings.discard_training()
        base = aligner if plain is own else Aligner(aligner.encoder, plain)
        self.default = own.problem_name
        settings = {name: plain.replace(problem=spec.build()) for name, spec in PROBLEMS.items()}
        choices = {
            name: ServedChoice(name, value, replace(base, settings=value)) for name, value in settings.items()
        }
        default = {self.default: ServedChoice(self.default, own, aligner)}
        self.offered = choices | default if self.default in choices else default | choices

    def choose(self, problem: str | None = None, options: Mapping[str, Any] | None = None) -> ServedChoice:
        """Return a choice.

        Args:
            problem: Name of the problem; None for the aligner's own.
            options: Options to change, by name; None leaves an option as it is.

        Returns:
            The choice.
        """
        choice = self.offered[problem or self.default]
        changes = {name: value for name, value in (options or {}).items() if value is not None}
        if not changes:
            return choice
        if "epsilon" in changes:
            changes["solver"] = Entropic(changes.pop("epsilon"), tol=Settings.solver.tol)
        for name in [name for name in changes if name in PARAMETERS]:
            changes["problem"] = PARAMETERS[name].build(changes.pop(name))
        settings = choice.settings.replace(**changes)
        return ServedChoice(choice.problem, settings, replace(choice.aligner, settings=settings))
