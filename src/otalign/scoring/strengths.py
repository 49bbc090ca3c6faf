"""Embeddings → how strongly each two words belong together: a transport plan, or plain similarity."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from otalign.arrays import memory
from otalign.encoders import Embeddings
from otalign.ot import Problem, Solver, solve
from otalign.scoring.cost import Array, costs
from otalign.scoring.fertility import masses
from otalign.settings import Settings

ROOM = 1 / 32  # of a GPU's memory, for what is solved together


class Together(NamedTuple):
    """What is solved together: padding costs, and so does starting an operation anew."""

    cells: int  # at most, on a CPU
    cell_bytes: int  # that a cell takes of a GPU's memory meanwhile
    step: int  # words by which lengths differ at most


# Transport is all small operations in a loop, which many cells make worth starting. A head makes so much of
# each cell that a cache holds few of them, and padding is not for nothing.
TRANSPORT = Together(1 << 17, 1 << 7, 24)
LEARNED = Together(1 << 14, 1 << 11, 8)


class Tile(NamedTuple):
    """Pairs about as long, padded to one size: words X (B, N, D) and Y (B, M, D), and what is a word."""

    X: Array
    Y: Array
    is_source: Array  # (B, N)
    is_target: Array  # (B, M)


def tiles(embeddings: Embeddings, most: Together = LEARNED) -> Iterator[tuple[list[int], Tile]]:
    """The pairs of source, target, source, … in tiles that fit a cache, or fill a GPU, each with the pairs'
    places. A pair without words on one side is in none.
    """
    there = memory(embeddings.vectors)
    cells = most.cells if there is None else int(ROOM * there) // most.cell_bytes
    shapes = embeddings.shapes
    steps = -(-shapes // most.step)
    order = np.lexsort(steps.T)  # those of like shape together
    order = order[shapes[order].all(axis=1)]
    ends = np.flatnonzero(np.diff(steps[order], axis=0).any(axis=1)) + 1
    for members in np.split(order, ends):
        together = max(1, cells // int(shapes[members].max(axis=0, initial=1).prod()))
        for start in range(0, len(members), together):
            places = members[start : start + together]
            X, is_source = embeddings.padded(2 * places)
            Y, is_target = embeddings.padded(2 * places + 1)
            yield places.tolist(), Tile(X, Y, is_source, is_target)


class Instance(NamedTuple):
    """What a tile's pairs have to transport: one for all problems of a kind, whatever their parameters."""

    C: Array  # (B, N, M)
    a: Array | None  # (B, N), and
    b: Array | None  # (B, M), unless nothing is transported


class Solution(NamedTuple):
    """The strengths of a tile's pairs (B, N, M), and for each whether its transport problem was solved to the
    solver's tolerance (B,); None where there is no transport problem."""

    strengths: Array
    converged: Array | None = None


def strengths(tile: Tile, settings: Settings) -> Array:
    """The plan (B, N, M) of each pair, or 1 − cost where the settings have no transport problem."""
    return solve_tile(tile, settings).strengths


def solve_tile(tile: Tile, settings: Settings) -> Solution:
    """Solve the pairs of a tile under the settings."""
    return _solve(instance(tile, settings), settings.transport, settings.solver)


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
    return _solve(of, problem, solver).strengths


def _solve(of: Instance, problem: Problem | None, solver: Solver) -> Solution:
    if problem is None:
        return Solution(1 - of.C)
    if memory(of.C) is not None and not of.C.requires_grad:  # a GPU is twice as fast, and tol is far above
        of = Instance(*(x if x is None else x.float() for x in of))
    solved = solve(of.C, of.a, of.b, problem, solver)
    return Solution(solved.plan, solved.converged)
