"""Optimal transport: arrays in, plans out. It knows no words; everything else stands on it.

from otalign.ot import Entropic, Unbalanced, solve

transport = solve(C, a, b, Unbalanced(tau=0.4), Entropic(eps=0.1))
transport.plan, transport.converged, transport.objective
"""

from otalign.ot.exact import Exact
from otalign.ot.problem import Balanced, Partial, Problem, Unbalanced
from otalign.ot.scaling import Entropic
from otalign.ot.solve import Solver, solve
from otalign.ot.transport import Transport

__all__ = [
    "Balanced",
    "Entropic",
    "Exact",
    "Partial",
    "Problem",
    "Solver",
    "Transport",
    "Unbalanced",
    "solve",
]
