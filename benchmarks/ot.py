"""Compare the solver with a loop over POT's functions: python benchmarks/ot.py

Costs resemble those of words: most target words are noisy copies of source words, and cosine distances are
scaled to [0, 1] over the pair. All solvers alternate in one process, with the same tolerance and threads, and
the best round of each counts.

With --device cuda, batches on a GPU are solved instead, alternating between the plain and the fused loop,
forward and backward, and the median round counts. "loop" is the time of the loop alone, "first" that of the
first call, which compiles, "the same" the share of problems that take as many iterations as in the plain
loop, and "difference" the largest one of their plans, as a share of the highest entry.
"""

import argparse
import gc
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from otalign.ot import Balanced, Entropic, Partial, Problem, Transport, Unbalanced, scaling, solve

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


def measure_on_gpu(sizes: list[int], warps: list[int], rounds: int, solver: Entropic) -> None:
    import torch
    import triton  # pyright: ignore[reportMissingImports]

    versions = f"torch {torch.__version__}, Triton {triton.__version__}"
    print(f"{torch.cuda.get_device_name()}, {versions}, {solver} in float32")
    loops = {"plain": choose_plain_loop, "fused": choose_fused_loop}
    loops |= {f"fused, {count} warps": partial(choose_fused_loop, count) for count in warps}
    for words in sizes:
        batch = 4096 * 32**2 // words**2
        rng = np.random.default_rng(0)
        costs = {
            "uniform": rng.random((batch, words, words)),
            "words": np.stack([make_costs(rng, words, words) for _ in range(batch)]),
        }
        print(f"\n{batch} problems of {words}×{words}")
        head = f"{'problem':23}{'costs':9}{'':15}{'forward/s':>10}{'with backward/s':>17}{'loop':>11}"
        print(f"{head}{'first':>9}{'iterations':>12}{'the same':>10}{'converged':>11}{'difference':>12}")
        for problem, (name, cost) in product(PROBLEMS, costs.items()):
            C = torch.tensor(cost, dtype=torch.float32, device="cuda")
            a = torch.full((batch, words), 1 / words if problem == Balanced() else 1.0, device="cuda")
            for row in compare_on_gpu(loops, C, a, problem, solver, rounds):
                print(f"{problem!r:23}{name:9}{row}", flush=True)


def compare_on_gpu(loops, C, a, problem: Problem, solver: Entropic, rounds: int) -> Iterator[str]:
    """Yield a row of the table for each loop."""
    import torch

    leaves = [x.clone().requires_grad_() for x in (C, a, a)]

    def forward() -> Transport:
        transport = solve(C, a, a, problem, solver)
        torch.cuda.synchronize()
        return transport

    def forward_and_backward() -> None:
        plan = solve(leaves[0], leaves[1], leaves[2], problem, solver).plan
        torch.autograd.grad((plan * plan).sum(), leaves)
        torch.cuda.synchronize()

    first, solved, alone, times = {}, {}, {}, {name: [] for name in loops}
    for name, choose in loops.items():
        with choose():
            first[name] = measure_seconds(forward)
            forward_and_backward()
            solved[name], alone[name] = forward(), measure_loop_alone(forward)
    for _ in range(rounds):
        for name, choose in loops.items():
            with choose():
                times[name].append((measure_seconds(forward), measure_seconds(forward_and_backward)))
    plain = solved["plain"]
    for name, transport in solved.items():
        once, both = len(C) / np.median(times[name], axis=0)
        spread = f"{int(transport.iterations.median())} to {int(transport.iterations.max())}"
        same = (transport.iterations == plain.iterations).float().mean()
        gap = (transport.plan - plain.plan).abs().max() / plain.plan.max()
        yield (
            f"{name:15}{once:10,.0f}{both:17,.0f}{1000 * alone[name]:8.2f} ms{first[name]:7.2f} s"
            f"{spread:>12}{same:10.2%}{transport.converged.float().mean():11.2%}{gap:12.1e}"
        )


def measure_loop_alone(forward: Callable[[], Any]) -> float:
    import torch

    seconds, iterate = [], Entropic._iterate

    def measured(*arguments):
        result = []

        def work():
            result.append(iterate(*arguments))
            torch.cuda.synchronize()

        torch.cuda.synchronize()
        seconds.append(measure_seconds(work))
        return result[0]

    with patch.object(Entropic, "_iterate", measured):
        forward()
    return sum(seconds)


def choose_plain_loop() -> AbstractContextManager:
    return patch.object(scaling, "_find_fused_loop", lambda factors, updates: None)


def choose_fused_loop(warps: int | None = None) -> AbstractContextManager:
    """Use the fused loop, with a number of warps, even where it fails: the error says why."""
    from otalign.ot import fused

    stack = ExitStack()
    stack.enter_context(patch.object(scaling, "_find_fused_loop", lambda factors, updates: fused.iterate))
    if warps:
        stack.enter_context(patch.object(fused, "count_warps", lambda entries: warps))
    return stack


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare the solver with POT, or its loops on a GPU.")
    parser.add_argument("--count", type=int, default=2000, help="number of problems on a CPU")
    parser.add_argument("--rounds", type=int, help="number of rounds: by default 3 on a CPU, 10 on a GPU")
    parser.add_argument("--eps", type=float, default=0.1)
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--words", type=int, nargs="+", default=[32], help="sizes of the problems on a GPU")
    parser.add_argument("--warps", type=int, nargs="*", default=[], help="other numbers of warps to try")
    options = parser.parse_args()
    solver = Entropic(options.eps, options.tol)
    warnings.simplefilter("ignore")  # POT warns where it stops early
    gc.disable()  # as timeit does: a collection over all objects of torch would slow down a random round
    if options.device == "cpu":
        compare_on_cpu(options.count, options.rounds or 3, solver)
    else:
        measure_on_gpu(options.words, options.warps, options.rounds or 10, solver)


if __name__ == "__main__":
    main()
