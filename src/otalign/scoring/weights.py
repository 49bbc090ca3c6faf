"""How sure the links of a pair are, from 0 to 1, and how sure it is that a word has none.

Transport that nothing was learned for says how much, not how likely: its plans are scaled to [0, 1] over
each pair, so the strongest link of a pair always stays, and a word's null is 1 less its strongest link. A
learned transport gives probabilities, and a pair may be without any link.
"""

from typing import Any, NamedTuple

from otalign.arrays import array_namespace
from otalign.scoring.cost import scaled
from otalign.scoring.heads import LEVELS, Head, LearnedTransport, Projection
from otalign.scoring.strengths import Tile, solve_tile
from otalign.settings import Links, Settings

Array = Any

LEAST = 1e-7  # of a probability that a logarithm is taken of


class Weights(NamedTuple):
    """Of the pairs of a tile; links are 0 where there is no word."""

    links: Array  # (B, N, M)
    source_nulls: Array  # (B, N)
    target_nulls: Array  # (B, M)
    converged: Array | None = None  # (B,), if a transport problem was solved


def weights(tile: Tile, settings: Settings, head: Head | None = None) -> Weights:
    """Those under the settings, by what a head has learned, if there is one."""
    if isinstance(head, LearnedTransport):
        return probabilities(head, tile, settings.links)
    if isinstance(head, Projection):
        tile = head.projected(tile)
    solved = solve_tile(tile, settings)
    links = scaled_weights(solved.strengths, tile)
    xp = array_namespace(links)
    return Weights(links, 1 - xp.max(links, axis=2), 1 - xp.max(links, axis=1), solved.converged)


def scaled_weights(strengths: Array, tile: Tile) -> Array:
    """The strengths (B, N, M) scaled to [0, 1] over each pair; 0 where there is no word."""
    xp = array_namespace(strengths)
    cells = tile.is_source[:, :, None] & tile.is_target[:, None, :]
    return xp.where(cells, scaled(strengths, cells), xp.zeros_like(strengths))


def probabilities(head: LearnedTransport, tile: Tile, links: Links) -> Weights:
    """Of the links of a level, and of the nulls that they leave."""
    xp = array_namespace(tile.X)
    cells = tile.is_source[:, :, None] & tile.is_target[:, None, :]
    found = link_probabilities(head.log_odds(tile), cells, head.calibration, links)
    how = head.null_calibration[:, LEVELS.index(links)]
    nulls = (_sigmoid(xp, calibrated(null_log_odds(found, axis), how)) for axis in (2, 1))
    return Weights(found, *nulls)


def link_probabilities(log_odds: Array, cells: Array, calibration: Array, links: Links) -> Array:
    """(B, N, M), from the log-odds (levels, B, N, M) and their calibration. What is sure is possible too."""
    xp = array_namespace(log_odds)
    sure, possible = (_sigmoid(xp, calibrated(log_odds[k], calibration[:, k])) for k in range(len(LEVELS)))
    found = possible if links == "possible" else xp.minimum(sure, possible)
    return xp.where(cells, found, xp.zeros_like(found))


def calibrated(log_odds: Array, calibration: Array) -> Array:
    """By a calibration (3,)."""
    xp = array_namespace(log_odds)
    return calibration[0] * log_odds + calibration[1] * xp.asinh(log_odds) + calibration[2]


def null_log_odds(links: Array, axis: int) -> Array:
    """Of a word that has none of the links (B, N, M) along an axis, were these independent."""
    xp = array_namespace(links)
    none = xp.sum(xp.log1p(-xp.clip(links, 0.0, 1 - LEAST)), axis=axis)
    none = xp.clip(none, None, -LEAST)
    return none - xp.log(-xp.expm1(none))


def _sigmoid(xp: Any, x: Array) -> Array:
    return 1 / (1 + xp.exp(-xp.clip(x, -60.0, 60.0)))
