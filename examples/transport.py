"""Solve one small unbalanced problem and print the plan: which words correspond, and which are null.

The costs are set by hand: 0 for the same meaning, 1 for nothing in common.
"""

import numpy as np

from otalign.ot import Entropic, Unbalanced, solve

source = ["He", "bought", "a", "used", "car"]
target = ["He", "purchased", "a", "second-hand", "car", "yesterday"]

cost = np.array(
    [  # He  purchased a  second-hand car yesterday
        [0.0, 0.8, 0.6, 0.9, 0.9, 0.8],  # He
        [0.8, 0.1, 0.8, 0.7, 0.7, 0.8],  # bought
        [0.6, 0.8, 0.0, 0.8, 0.8, 0.9],  # a
        [0.9, 0.7, 0.8, 0.2, 0.6, 0.8],  # used
        [0.9, 0.7, 0.8, 0.6, 0.0, 0.9],  # car
    ]
)

problem, solver = Unbalanced(tau=0.2), Entropic(eps=0.05)
transport = solve(cost, np.ones(len(source)), np.ones(len(target)), problem, solver)

print(problem, solver, sep="\n", end="\n\n")
print(" " * 6, *(word.rjust(5) for word in target))
for word, row in zip(source, transport.plan, strict=True):
    cells = (f"{mass:.2f}" if mass > 0.05 else "·" for mass in row)
    print(word.rjust(6), *(cell.rjust(max(5, len(word))) for cell, word in zip(cells, target, strict=True)))
print(
    f"\nmass that reaches each target word: {np.array2string(transport.target_marginal, precision=2)}"
    f"\n{'converged' if transport.converged else 'not converged'} after {transport.iterations} iterations, "
    f"cost {transport.cost:.3f}, objective {transport.objective:.3f}"
)
