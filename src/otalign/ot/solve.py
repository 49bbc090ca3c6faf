"""The entry point: solves one problem, a batch, or a ragged list of problems."""

from collections.abc import Sequence
from typing import overload

from otalign.arrays import Array, array_namespace, device, is_torch_array
from otalign.ot.batch import ProblemBatch, as_batch, pad_into_batches
from otalign.ot.exact import Exact
from otalign.ot.problem import Problem
from otalign.ot.quadratic import Quadratic, solve_linearised
from otalign.ot.scaling import Entropic
from otalign.ot.transport import Transport

Solver = Entropic | Exact

ROUNDING = 1e-5  # totals whose relative difference is smaller count as equal


@overload
def solve(  # pyright: ignore[reportOverlappingOverload]: an Array is Any to a type checker
    C: list[Array] | tuple[Array, ...],
    a: Sequence[Array],
    b: Sequence[Array],
    problem: Problem,
    solver: Solver = Entropic(),
    quadratic: Quadratic | None = None,
) -> list[Transport]: ...
@overload
def solve(
    C: Array,
    a: Array,
    b: Array,
    problem: Problem,
    solver: Solver = Entropic(),
    quadratic: Quadratic | None = None,
) -> Transport: ...
def solve(C, a, b, problem: Problem, solver: Solver = Entropic(), quadratic: Quadratic | None = None):
    """Find the plan that moves the masses a to the masses b at the lowest cost.

    Arrays are a single problem or a batch of one size; lists of arrays are problems of any sizes. Both may be
    NumPy arrays or torch tensors on any device; half precision is computed in float32. A word of mass zero is
    absent.

    Args:
        C: Costs (…, n, m), or a list of matrices.
        a: Masses of the source words (…, n), or a list of vectors.
        b: Masses of the target words (…, m), or a list of vectors.
        problem: Constraints on the plan.
        solver: Solver; `Entropic()` is differentiable.
        quadratic: Quadratic term of the objective, `Order` or `Structure`.

    Returns:
        A `Transport`, or for lists a list of them in the same order.

    Raises:
        ValueError: If arrays do not fit each other, hold negative numbers, or have unequal totals that the
            problem does not allow.
        TypeError: If `problem` is not a transport problem, or `quadratic` not a quadratic term.

    Example:
        >>> import numpy as np
        >>> from otalign.ot import Partial, solve
        >>> transport = solve(np.array([[0.0, 1.0], [1.0, 0.2]]), np.ones(2), np.ones(2), Partial(0.5))
        >>> transport
        Transport(2×2, Partial(fraction=0.5), converged, 5 iterations)
    """
    if not isinstance(quadratic, Quadratic | None):
        raise TypeError(f"quadratic must be Order, Structure or None, got {quadratic!r}")
    if isinstance(C, list | tuple):
        return _solve_list(C, a, b, problem, solver, quadratic)
    batch = as_batch(C, a, b)
    if quadratic:
        quadratic.check(C)
        quadratic = quadratic.map(lambda D: batch.xp.reshape(D, (len(batch), *D.shape[-2:])))
    return _solve_batch(batch, problem, solver, quadratic).reshape(tuple(C.shape[:-2]))


def _solve_list(
    C: Sequence[Array],
    a: Sequence[Array],
    b: Sequence[Array],
    problem: Problem,
    solver: Solver,
    quadratic: Quadratic | None,
) -> list[Transport]:
    arrays, restore, converted_term = (C, a, b), _return_unchanged, quadratic
    if quadratic:
        quadratic.check_length(len(C))
    matrices = [D for listed in quadratic.matrices.values() for D in listed] if quadratic else []
    if C and all(map(_shares_memory_with_numpy, (*C, *a, *b, *matrices))):
        # NumPy is several times faster with many small arrays, on the same memory.
        arrays = tuple([x.numpy() for x in side] for side in (C, a, b))
        converted_term = quadratic and quadratic.map(lambda listed: [D.numpy() for D in listed])
        restore = array_namespace(C[0]).from_numpy
    solutions: dict[int, Transport] = {}
    for indices, batch in pad_into_batches(*arrays):
        try:
            batch_term = converted_term and converted_term.pad(indices, arrays[0], batch)
            solved = _solve_batch(batch, problem, solver, batch_term)
        except UnequalTotals as error:
            raise ValueError(f"problem {indices[error.index]} of the list: {error}") from None
        columns = (solved.plan, solved.converged.tolist(), solved.iterations.tolist())
        for k, plan, converged, iterations in zip(indices, *columns, strict=True):
            n, m = C[k].shape
            plan = restore(plan[:n, :m])
            term = quadratic and quadratic.select(k)
            solutions[k] = Transport(plan, converged, iterations, C[k], a[k], b[k], problem, solved.eps, term)
    return [solutions[k] for k in range(len(solutions))]


def _return_unchanged(x: Array) -> Array:
    return x


def _shares_memory_with_numpy(x: Array) -> bool:
    """Return whether x is a CPU tensor without gradients, of a dtype that NumPy has."""
    return is_torch_array(x) and x.is_cpu and not x.requires_grad and x.itemsize > 2


def _solve_batch(
    batch: ProblemBatch, problem: Problem, solver: Solver, quadratic: Quadratic | None
) -> Transport:
    xp = batch.xp
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be Balanced, Partial or Unbalanced, got {problem!r}")
    if problem.needs_equal_totals:
        _check_totals(batch)
    if 0 in batch.C.shape:  # no problems, or a side without words
        zeros = xp.zeros(len(batch), dtype=xp.int64, device=device(batch.C))
        eps = getattr(solver, "eps", 0.0)
        return Transport(batch.C, zeros == 0, zeros, batch.C, batch.a, batch.b, problem, eps, quadratic)
    if quadratic:
        return solve_linearised(batch, problem, solver, quadratic)
    return solver.solve(batch, problem)


class UnequalTotals(ValueError):
    """Error for a balanced problem, at `index` of its batch, whose sides differ in total mass."""

    def __init__(self, index: int, total_a: float, total_b: float) -> None:
        self.index = index
        super().__init__(
            f"a and b must have equal totals for Balanced(), got {total_a:g} and {total_b:g}; "
            "divide each by its sum, or use Partial or Unbalanced"
        )


def _check_totals(batch: ProblemBatch) -> None:
    xp = batch.xp
    total_a, total_b = xp.sum(batch.a, axis=-1), xp.sum(batch.b, axis=-1)
    unequal = xp.abs(total_a - total_b) > ROUNDING * xp.maximum(total_a, total_b)
    if bool(xp.any(unequal)):
        k = int(xp.nonzero(unequal)[0][0])
        raise UnequalTotals(k, float(total_a[k]), float(total_b[k]))
