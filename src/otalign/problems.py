"""The registry of transport problems: names, parameters with ranges and defaults, and a description of each.

Python, the command line, tuning and the server read it. To add a problem, add its class to `otalign.ot`, an
entry here, and its title, explanation and slider to the server's page (`server/problems.js`).
"""

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

from otalign.ot import Balanced, Partial, Problem, Unbalanced
from otalign.validation import check_choice

ProblemName = Literal["bot", "pot", "uot", "none"]


@dataclass(frozen=True)
class Parameter:
    """The number that a transport problem leaves to its user."""

    name: str
    default: float
    minimum: float
    maximum: float
    description: str
    fields: tuple[str, ...]  # fields of the problem that hold it


@dataclass(frozen=True)
class ProblemSpec:
    """A transport problem as Python, the command line, tuning and the server offer it."""

    name: ProblemName
    type: type
    description: str
    threshold: float  # default threshold of links
    parameter: Parameter | None = None

    def build(self, value: float | None = None) -> Problem | None:
        """Return the problem with a value of its parameter, or with the default value."""
        if self.parameter is None:
            return None if self.type is type(None) else self.type()
        return self.type(self.parameter.default if value is None else value)

    def replace(self, problem: Any, value: float) -> Problem:
        """Return a copy of a problem with another value of its parameter."""
        assert self.parameter is not None
        return dataclasses.replace(problem, **dict.fromkeys(self.parameter.fields, value))

    def get_value(self, problem: Problem | None) -> float | None:
        """Return the value of the parameter, or None if the problem has none."""
        return None if self.parameter is None else getattr(problem, self.parameter.fields[0])


# Defaults were chosen on the pooled dev sets of the corpora with MiniLM-L6 (layer 4) and MPNet-base
# (layer 5), encoded jointly. Thresholds are halfway between the best values of the two (docs/results.md).
PROBLEMS: dict[str, ProblemSpec] = {
    spec.name: spec
    for spec in (
        ProblemSpec("bot", Balanced, "Balanced: every word gives away all of its mass.", 0.48),
        ProblemSpec(
            "pot",
            Partial,
            "Partial: a fraction of the shorter sentence is linked.",
            0.34,
            Parameter("fraction", 1.0, 1e-3, 1.0, "Fraction of the shorter sentence to link.", ("fraction",)),
        ),
        ProblemSpec(
            "uot",
            Unbalanced,
            "Unbalanced: words may stay without a link, at a penalty.",
            0.36,
            Parameter(
                "tau", 0.8, 1e-3, 1e3, "Penalty for words without a link.", ("tau_source", "tau_target")
            ),
        ),
        ProblemSpec("none", type(None), "No transport: a threshold on the similarity of words.", 0.71),
    )
}
PARAMETERS: dict[str, ProblemSpec] = {
    spec.parameter.name: spec for spec in PROBLEMS.values() if spec.parameter
}


def find_spec(problem: Problem | None) -> ProblemSpec:
    """Return the registry's entry of a problem.

    Raises:
        TypeError: If it is not a transport problem.
    """
    for spec in PROBLEMS.values():
        if type(problem) is spec.type:
            return spec
    raise TypeError(f"problem must be Balanced, Partial, Unbalanced or None, got {problem!r}")


def build_problem(problem: Problem | str | None, **parameters: float | None) -> Problem | None:
    """Return a transport problem given by its name, or as a value.

    Args:
        problem: A name in `PROBLEMS`, or the problem itself, which is returned unchanged.
        **parameters: Parameters by name, such as `tau=0.4`. None stands for the default.

    Raises:
        ValueError: If the name is unknown, or a parameter belongs to another problem.
    """
    values = {name: value for name, value in parameters.items() if value is not None}
    if not isinstance(problem, str):
        for name in values:
            raise ValueError(f"{name} applies only to problem={PARAMETERS[name].name!r}; remove it")
        return problem
    check_choice("problem", problem, PROBLEMS)
    spec = PROBLEMS[problem]
    for name in values:
        if spec.parameter is None or name != spec.parameter.name:
            other = PARAMETERS[name].name
            raise ValueError(f"{name} applies only to problem {other}; remove it or choose {other}")
    return spec.build(next(iter(values.values()), None))
