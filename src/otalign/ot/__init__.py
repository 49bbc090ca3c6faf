"""Optimal transport: costs and masses in, transport plans out. Everything else is built on this package.

Example:
    >>> import numpy as np
    >>> from otalign.ot import Entropic, Unbalanced, solve
    >>> C = np.array([[0.0, 0.9], [0.9, 0.1], [0.8, 0.9]])
    >>> transport = solve(C, np.ones(3), np.ones(2), Unbalanced(tau=0.2), Entropic(eps=0.05))
    >>> transport.plan.round(1).tolist()
    [[1.0, 0.0], [0.0, 0.8], [0.0, 0.0]]
    >>> transport.converged
    True
"""

from otalign.ot.balanced import Balanced
from otalign.ot.exact import Exact
from otalign.ot.partial import Partial
from otalign.ot.problem import Problem
from otalign.ot.quadratic import Order, Quadratic, Structure
from otalign.ot.scaling import Entropic
from otalign.ot.solve import Solver, solve
from otalign.ot.transport import Transport
from otalign.ot.unbalanced import Unbalanced

__all__ = [
    "Balanced",
    "Entropic",
    "Exact",
    "Order",
    "Partial",
    "Problem",
    "Quadratic",
    "Solver",
    "Structure",
    "Transport",
    "Unbalanced",
    "solve",
]
