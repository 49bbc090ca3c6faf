"""Embeddings → how strongly each two words belong together: a transport plan, or plain similarity."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from otalign.arrays import is_numpy_array
from otalign.cost import Array, costs
from otalign.encoders import Embeddings
from otalign.fertility import masses
from otalign.ot import Problem, Solver, solve
from otalign.settings import Settings

CPU_CELLS, GPU_CELLS = 1 << 15, 1 << 20  # of matrices that are solved together
SIZE_STEP = 8  # words by which the lengths of pairs that are solved together differ at most


class Tile(NamedTuple):
    """Pairs about as long, padded to one size: words X (B, N, D) and Y (B, M, D), and what is a word."""

    X: Array
    Y: Array
    is_source: Array  # (B, N)
    is_target: Array  # (B, M)


def tiles(embeddings: Embeddings, shapes: Iterable[tuple[int, int]]) -> Iterator[tuple[list[int], Tile]]:
    """The pairs of source, target, source, … in tiles that fit a cache, or fill a GPU, each with the pairs'
    places. A pair without words on one side is in none.
    """
    cells = CPU_CELLS if is_numpy_array(embeddings.vectors) else GPU_CELLS
    groups: dict[tuple[int, int], list[int]] = defaultdict(list)
    for k, (n, m) in enumerate(shapes):
        if n and m:
            groups[-(-n // SIZE_STEP), -(-m // SIZE_STEP)].append(k)
    for (n, m), members in groups.items():
        step = max(1, cells // (n * m * SIZE_STEP**2))
        for start in range(0, len(members), step):
            places = members[start : start + step]
            X, is_source = embeddings.padded([2 * k for k in places])
            Y, is_target = embeddings.padded([2 * k + 1 for k in places])
            yield places, Tile(X, Y, is_source, is_target)


class Instance(NamedTuple):
    """What a tile's pairs have to transport: one for all problems of a kind, whatever their parameters."""

    C: Array  # (B, N, M)
    a: Array | None  # (B, N), and
    b: Array | None  # (B, M), unless nothing is transported


def strengths(tile: Tile, settings: Settings) -> Array:
    """The plan (B, N, M) of each pair, or 1 − cost where the settings have no transport problem."""
    return solution(instance(tile, settings), settings.transport, settings.solver)


def instance(tile: Tile, settings: Settings) -> Instance:
    """The costs and masses of a tile's pairs."""
    C = costs(*tile, settings.cost, settings.distortion, settings.smoothing)
    if settings.transport is None:
        return Instance(C, None, None)
    a = masses(tile.X, tile.is_source, settings.fertility, settings.transport)
    b = masses(tile.Y, tile.is_target, settings.fertility, settings.transport)
    return Instance(C, a, b)


def solution(of: Instance, problem: Problem | None, solver: Solver) -> Array:
    """The strengths under a problem of the kind that the instance was made for."""
    return 1 - of.C if problem is None else solve(of.C, of.a, of.b, problem, solver).plan
