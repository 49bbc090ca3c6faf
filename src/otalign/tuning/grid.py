"""The grid of a search: the values of each setting to try."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import product
from typing import get_args

from otalign.problems import find_spec
from otalign.settings import Cost, Fertility, Settings
from otalign.tuning.sweep import THRESHOLDS

FEW = 6  # parameters that the coarse search tries at each distortion


@dataclass(frozen=True)
class SearchGrid:
    """Values of each setting to try. If several reach the same F1, the first wins.

    Attributes:
        parameters: Values of the problem's parameter, such as tau. Empty to keep that of the settings.
        distortions: Values of the distortion, from 0 to 1. Empty to keep that of the settings.
        costs: Costs of two words. Empty to keep that of the settings.
        fertilities: Masses of words. Empty to keep that of the settings.
        thresholds: Thresholds of links from 0 to 1, in ascending order.

    Raises:
        ValueError: If a value is out of its range or given twice.

    Example:
        >>> SearchGrid(parameters=(0.2, 0.4), distortions=(0.0,)).distortions
        (0.0,)
    """

    parameters: tuple[float, ...] = tuple(k / 50 for k in range(1, 51))
    distortions: tuple[float, ...] = tuple(k / 10 for k in range(11))
    costs: tuple[Cost, ...] = ()
    fertilities: tuple[Fertility, ...] = ()
    thresholds: tuple[float, ...] = THRESHOLDS

    def __post_init__(self) -> None:
        for field in fields(self):
            values = tuple(getattr(self, field.name))
            object.__setattr__(self, field.name, values)
            if len(set(values)) < len(values):
                raise ValueError(f"{field.name} must not contain a value twice, got {values}")
        for name in ("distortions", "thresholds"):
            for value in getattr(self, name):
                if not 0 <= value <= 1:
                    raise ValueError(f"{name} must be from 0 to 1, got {value}")
        if not self.thresholds or list(self.thresholds) != sorted(self.thresholds):
            raise ValueError(f"thresholds must be one or more in ascending order, got {self.thresholds}")
        for value in self.parameters:
            if not 0 < value < float("inf"):
                raise ValueError(f"parameters must be positive and finite, got {value}")
        for name, type_ in (("costs", Cost), ("fertilities", Fertility)):
            for value in getattr(self, name):
                if value not in get_args(type_):
                    raise ValueError(f"{name} must be among {', '.join(get_args(type_))}, got {value!r}")

    def list_coarse(self, base: Settings) -> Iterator[Settings]:
        """Yield every cost, fertility and distortion, each with a few of the parameters.

        Args:
            base: Settings for everything that the grid leaves open.
        """
        last = len(self.parameters) - 1
        places = sorted({round(k * last / (FEW - 1)) for k in range(FEW)}) if self.parameters else []
        few = tuple(self.parameters[place] for place in places)
        costs, distortions = self.costs or (base.cost,), self.distortions or (base.distortion,)
        # Words have no mass without a transport problem.
        fertilities = (() if base.problem is None else self.fertilities) or (base.fertility,)
        for cost, fertility, distortion in product(costs, fertilities, distortions):
            ground = base.replace(cost=cost, fertility=fertility, distortion=distortion)
            yield from _vary_problem(ground, few)

    def list_fine(self, base: Settings) -> Iterator[Settings]:
        """Yield settings with every parameter.

        Args:
            base: The other settings.
        """
        return _vary_problem(base, self.parameters)


def _vary_problem(settings: Settings, values: tuple[float, ...]) -> Iterator[Settings]:
    """Yield the settings with each value of their problem's parameter, or unchanged if it has none."""
    spec = find_spec(settings.problem)
    if not values or spec.parameter is None:
        yield settings
        return
    for value in values:
        yield settings.replace(problem=spec.replace(settings.problem, value))
