"""Embeddings → how strongly each two words belong together: a transport plan, or plain similarity."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from otalign.arrays import memory
from otalign.cost import Array, costs
from otalign.encoders import Embeddings
from otalign.fertility import masses
from otalign.ot import Problem, Solver, solve
from otalign.settings import Settings

ROOM = 1 / 32  # of a GPU's memory, for what is solved together
LIKE = 8  # words by which sources differ while their targets are still put in order


class Together(NamedTuple):
    """What is solved together: padding costs, and so does starting an operation anew."""

    cells: int  # at most, on a CPU
    cell_bytes: int  # that a cell takes of a GPU's memory meanwhile
    padding: float  # the share of these cells that may be none of a pair


# Transport is all small operations in a loop, which many cells make worth starting. A head makes so much of
# each cell that a cache holds few of them, and padding is not for nothing.
TRANSPORT = Together(1 << 17, 1 << 7, 1 / 4)
LEARNED = Together(1 << 15, 1 << 11, 1 / 8)


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
    for places in _alike(embeddings.shapes, cells, most.padding * cells):
        X, is_source = embeddings.padded(2 * places)
        Y, is_target = embeddings.padded(2 * places + 1)
        yield places.tolist(), Tile(X, Y, is_source, is_target)


def _alike(shapes: np.ndarray, cells: int, padding: float) -> Iterator[np.ndarray]:
    """The places of shapes (pairs, 2) with any cells, so many at once that brought to one shape they have no
    more cells than these, nor more padding; a single one may be larger."""
    own = shapes.prod(axis=1)
    order = np.lexsort((shapes[:, 1], shapes[:, 0] // LIKE))  # either side may be the longer one
    order = order[own[order] > 0][::-1]
    while len(order):
        some = order[: max(1, cells // int(own[order[0]]))]  # no more than these can fit
        whole = np.arange(1, len(some) + 1) * np.maximum.accumulate(shapes[some]).prod(axis=1)
        too_much = (whole > cells) | (whole - np.cumsum(own[some]) > padding)
        too_much[0] = False
        count = int(np.argmax(too_much)) or len(some)
        yield some[:count]
        order = order[count:]


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
    if problem is None:
        return 1 - of.C
    if memory(of.C) is not None and not of.C.requires_grad:  # a GPU is twice as fast, and tol is far above
        of = Instance(*(x if x is None else x.float() for x in of))
    return solve(of.C, of.a, of.b, problem, solver).plan
