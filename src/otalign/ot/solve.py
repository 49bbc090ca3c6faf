"""The one way in: arrays to a solver and back, for one problem, a batch, or a ragged list."""

from collections.abc import Sequence
from typing import overload

from otalign.arrays import array_namespace, device, is_torch_array
from otalign.ot.batch import Array, ProblemBatch, as_batch, buckets
from otalign.ot.exact import Exact
from otalign.ot.problem import Problem
from otalign.ot.scaling import Entropic
from otalign.ot.transport import Transport

Solver = Entropic | Exact

ROUNDING = 1e-5  # totals that differ by less, relatively, were meant to be equal


@overload
def solve(  # pyright: ignore[reportOverlappingOverload]: an Array is Any to a type checker
    C: list[Array] | tuple[Array, ...],
    a: Sequence[Array],
    b: Sequence[Array],
    problem: Problem,
    solver: Solver = Entropic(),
) -> list[Transport]: ...
@overload
def solve(C: Array, a: Array, b: Array, problem: Problem, solver: Solver = Entropic()) -> Transport: ...
def solve(C, a, b, problem: Problem, solver: Solver = Entropic()):
    """The plan that moves the masses a to the masses b at the costs C, as `problem` allows.

    Arrays C (…, n, m), a (…, n), b (…, m) are one problem or a batch of one size and give one
    `Transport`; three lists of arrays are problems of any sizes and give a list, in order.
    NumPy arrays or torch tensors on any device; half precision is worked in float32. A word of
    mass zero is absent.
    """
    if isinstance(C, list | tuple):
        return _solve_list(C, a, b, problem, solver)
    return _solve_batch(as_batch(C, a, b), problem, solver).reshape(tuple(C.shape[:-2]))


def _solve_list(C, a, b, problem: Problem, solver: Solver) -> list[Transport]:
    lent, given_back = (C, a, b), _itself
    if C and all(map(_shared_with_numpy, (*C, *a, *b))):
        # Many small arrays: NumPy is several times quicker with them, on the same memory.
        lent = tuple([x.numpy() for x in side] for side in (C, a, b))
        given_back = array_namespace(C[0]).from_numpy
    answers: dict[int, Transport] = {}
    for places, batch in buckets(*lent):
        try:
            solved = _solve_batch(batch, problem, solver)
        except UnequalTotals as error:
            raise ValueError(f"problem {places[error.index]} of the list: {error}") from None
        ends = zip(places, solved.plan, solved.converged.tolist(), solved.iterations.tolist(), strict=True)
        for k, plan, converged, iterations in ends:
            n, m = C[k].shape
            plan = given_back(plan[:n, :m])
            answers[k] = Transport(plan, converged, iterations, C[k], a[k], b[k], problem, solved.eps)
    return [answers[k] for k in range(len(answers))]


def _itself(x: Array) -> Array:
    return x


def _shared_with_numpy(x: Array) -> bool:
    """A torch tensor on the host that asks for no gradients and has a type that NumPy knows."""
    return is_torch_array(x) and x.is_cpu and not x.requires_grad and x.itemsize > 2


def _solve_batch(batch: ProblemBatch, problem: Problem, solver: Solver) -> Transport:
    xp = batch.xp
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be Balanced, Partial or Unbalanced, got {problem!r}")
    if problem.needs_equal_totals:
        _check_totals(batch)
    if 0 in batch.C.shape:  # no problems, or a side without words: nothing to move
        none = xp.zeros(len(batch), dtype=xp.int64, device=device(batch.C))
        eps = getattr(solver, "eps", 0.0)
        return Transport(batch.C, none == 0, none, batch.C, batch.a, batch.b, problem, eps)
    return solver.solve(batch, problem)


class UnequalTotals(ValueError):
    """A balanced problem, at `index` of its batch, whose sides do not hold the same mass."""

    def __init__(self, index: int, total_a: float, total_b: float):
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
