"""Compare the solver with a loop over POT's functions: python benchmarks/ot.py

Costs resemble those of words: most target words are noisy copies of source words, and cosine distances are
scaled to [0, 1] over the pair. All solvers alternate in one process, with the same tolerance and threads, and
the best round of each counts. With a GPU, a large batch is solved there too, forward and backward.
"""

import argparse
import gc
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from otalign.ot import Balanced, Entropic, Partial, Problem, Transport, Unbalanced, solve

sys.path = [folder for folder in sys.path if folder != str(Path(__file__).parent)]  # `import ot` means POT

PROBLEMS: list[Problem] = [Balanced(), Partial(0.9), Unbalanced(0.4)]


def make_costs(rng: np.random.Generator, n: int, m: int, dimensions: int = 64) -> np.ndarray:
    source, target = rng.normal(size=(n, dimensions)), rng.normal(size=(m, dimensions))
    copied = rng.permutation(min(n, m))[: int(0.8 * min(n, m))]
    target[copied] = source[copied] + 0.7 * target[copied]
    source /= np.linalg.norm(source, axis=1, keepdims=True)
    target /= np.linalg.norm(target, axis=1, keepdims=True)
    cost = -source @ target.T
    return (cost - cost.min()) / (cost.max() - cost.min())


def make_masses(problem: Problem, lengths: list[int]) -> list[np.ndarray]:
    return [np.full(n, 1 / n if problem == Balanced() else 1.0) for n in lengths]


def solve_with_pot(C, a, b, problem: Problem, solver: Entropic) -> Any:
    import ot

    stop = {"stopThr": solver.tol, "numItermax": solver.max_iterations}
    match problem:
        case Balanced():
            return ot.sinkhorn(a, b, C, solver.eps, **stop)
        case Partial(fraction):
            mass = fraction * min(a.sum(), b.sum())
            return ot.partial.entropic_partial_wasserstein(a, b, C, solver.eps, m=mass, **stop)
        case Unbalanced(tau_source=tau_source, tau_target=tau_target):
            tau = (tau_source, tau_target)
            return ot.unbalanced.sinkhorn_unbalanced(a, b, C, solver.eps, tau, reg_type="entropy", **stop)


def measure_seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare_on_cpu(count: int, rounds: int, solver: Entropic) -> None:
    import torch

    rng = np.random.default_rng(0)
    C = [make_costs(rng, *rng.integers(8, 41, 2)) for _ in range(count)]
    print(f"{count} problems of 8 to 40 words, {solver}, torch threads {torch.get_num_threads()}\n")
    head = f"{'problem':24}{'solver':16}{'problems/s':>11}{'× POT':>8}{'difference':>12}"
    print(f"{head}{'iterations':>14}{'converged':>11}")
    for problem in PROBLEMS:
        a, b = (make_masses(problem, [x.shape[axis] for x in C]) for axis in (0, 1))
        expected = solve_all_with_pot(C, a, b, problem, solver)
        loops: dict[str, Callable[[], list]] = {
            "POT, a loop": partial(solve_all_with_pot, C, a, b, problem, solver)
        }
        checks = {"POT, a loop": ""}
        for name, convert in {
            "NumPy float64": np.float64,
            "NumPy float32": np.float32,
            "torch float64": torch.tensor,
            "torch float32": lambda x: torch.tensor(x, dtype=torch.float32),
        }.items():
            sides = [[convert(x) for x in side] for side in (C, a, b)]
            loops[name] = partial(solve, *sides, problem, solver)
            checks[name] = format_check(loops[name](), expected)
        best = dict.fromkeys(loops, np.inf)
        for _ in range(rounds):
            for name, loop in loops.items():
                best[name] = min(best[name], measure_seconds(loop))
        for name, taken in best.items():
            ratio = best["POT, a loop"] / taken
            print(f"{problem!r:24}{name:16}{count / taken:11,.0f}{ratio:8.1f}{checks[name]}")


def solve_all_with_pot(C, a, b, problem: Problem, solver: Entropic) -> list:
    return [solve_with_pot(*one, problem, solver) for one in zip(C, a, b, strict=True)]


def format_check(solved: list[Transport], expected: list[np.ndarray]) -> str:
    """Format the largest difference of the plans, the iterations and the share of converged problems."""
    gap = max(float(np.abs(np.asarray(t.plan) - x).max()) for t, x in zip(solved, expected, strict=True))
    iterations = [t.iterations for t in solved]
    spread = f"{np.median(iterations):.0f} to {max(iterations)}"
    return f"{gap:12.1e}{spread:>14}{np.mean([t.converged for t in solved]):11.2%}"


def measure_on_gpu(batch: int, words: int, solver: Entropic) -> None:
    import torch

    print(f"\n{torch.cuda.get_device_name()}, {batch} problems of {words}×{words} in float32, {solver}\n")
    head = f"{'problem':24}{'costs':10}{'forward/s':>12}{'with backward/s':>18}"
    print(f"{head}{'iterations':>14}{'converged':>12}")
    rng = np.random.default_rng(0)
    costs = {
        "uniform": rng.random((batch, words, words)),
        "words": np.stack([make_costs(rng, words, words) for _ in range(batch)]),
    }
    for problem in PROBLEMS:
        for name, cost in costs.items():
            C = torch.tensor(cost, dtype=torch.float32, device="cuda")
            a = b = torch.full((batch, words), 1 / words if problem == Balanced() else 1.0, device="cuda")
            leaves = [x.clone().requires_grad_() for x in (C, a, b)]

            def forward(C=C, a=a, b=b, problem=problem):
                transport = solve(C, a, b, problem, solver)
                torch.cuda.synchronize()
                return transport

            def forward_and_backward(leaves=leaves, problem=problem):
                plan = solve(leaves[0], leaves[1], leaves[2], problem, solver).plan
                torch.autograd.grad((plan * plan).sum(), leaves)
                torch.cuda.synchronize()

            times = [
                [measure_seconds(work) for _ in range(12)][2:] for work in (forward, forward_and_backward)
            ]
            once, both = (batch / np.median(taken) for taken in times)
            solved = forward()
            spread = f"{int(solved.iterations.median())} to {int(solved.iterations.max())}"
            share = solved.converged.float().mean()
            print(f"{problem!r:24}{name:10}{once:12,.0f}{both:18,.0f}{spread:>14}{share:12.2%}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare the solver with POT.")
    parser.add_argument("--count", type=int, default=2000, help="number of problems")
    parser.add_argument("--rounds", type=int, default=3, help="number of rounds")
    parser.add_argument("--eps", type=float, default=0.1)
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--gpu-only", action="store_true", help="leave POT out")
    options = parser.parse_args()
    solver = Entropic(options.eps, options.tol)
    warnings.simplefilter("ignore")  # POT warns where it stops early
    gc.disable()  # as timeit does: a collection over all that torch has loaded would hit one at random
    if not options.gpu_only:
        compare_on_cpu(options.count, options.rounds, solver)
    import torch

    if torch.cuda.is_available():
        measure_on_gpu(4096, 32, solver)


if __name__ == "__main__":
    main()
