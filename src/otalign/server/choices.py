"""The settings that clients may choose: a transport problem, and its parameters.

Of an aligner that has learned its transport, only the level of the links and the threshold can be chosen.
Clients may also choose a transport problem over its encoder's embeddings, with the package's defaults.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from otalign.aligner import Aligner
from otalign.ot import Entropic
from otalign.problems import PARAMETERS, PROBLEMS
from otalign.settings import AnySettings, Settings

SMALL_EPSILON = 0.02


@dataclass(frozen=True)
class ServedChoice:
    """An aligner with the settings that a client chose."""

    problem: str
    settings: AnySettings
    aligner: Aligner

    @property
    def slow(self) -> bool:
        """Whether the solver takes many iterations."""
        solver = getattr(self.settings, "solver", None)
        return isinstance(solver, Entropic) and solver.eps < SMALL_EPSILON

    @property
    def depends_on_company(self) -> bool:
        """Whether embeddings are centred on the pairs of the same request."""
        return self.settings.centring and self.aligner.centre is None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ServedChoice) and self.settings == other.settings

    def __hash__(self) -> int:
        return hash(self.settings)


class Choices:
    """The choices that an aligner offers, by the names of their problems."""

    def __init__(self, aligner: Aligner):
        own, plain = aligner.settings, aligner.settings.without_training()
        base = aligner if plain is own else Aligner(aligner.encoder, plain)
        self.default = own.problem_name
        settings = {name: plain.replace(problem=spec.build()) for name, spec in PROBLEMS.items()}
        choices = {name: ServedChoice(name, of, replace(base, settings=of)) for name, of in settings.items()}
        chosen = {self.default: ServedChoice(self.default, own, aligner)}
        self.offered = choices | chosen if self.default in choices else chosen | choices

    def choose(self, problem: str | None = None, options: Mapping[str, Any] | None = None) -> ServedChoice:
        """Return the choice of a problem, the default one if it is None, with changed options."""
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
