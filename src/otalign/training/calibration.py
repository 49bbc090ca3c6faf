"""Log-odds → probabilities that mean what they say: a scale and a shift for each level, found on dev sets.

Both are those of a logistic regression on the log-odds alone, first for the links, then, with their
probabilities known, for the nulls that they leave.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch

from otalign.encoders.embeddings import in_numpy
from otalign.head import LEVELS, LearnedTransport
from otalign.training.dev import DevSet
from otalign.training.model import Model, Tensors
from otalign.weights import link_probabilities, null_log_odds

STEPS = 50  # of Newton's method, at most; ten are enough where there is anything to find
CLOSE = 1e-7  # to the end
UNCHANGED = np.array([1.0, 0.0])


class Seen(NamedTuple):
    """What a model says of the pairs of a batch, and what is so."""

    log_odds: np.ndarray  # (levels, B, N, M)
    cells: np.ndarray  # (B, N, M), where there are words
    links: np.ndarray  # (levels, B, N, M), 1 where there is one


def calibrated(model: Model, devs: Iterable[DevSet]) -> LearnedTransport:
    """The model's head, in NumPy, with the calibration that suits these dev sets together."""
    head: LearnedTransport = model.head_in_numpy()
    seen = [one for dev in devs for one in _seen(model, dev)]
    head = replace(head, calibration=_fitted_levels(_links(seen, k) for k in range(len(LEVELS))))
    nulls = (_nulls(seen, head.calibration, k) for k in range(len(LEVELS)))
    return replace(head, null_calibration=_fitted_levels(nulls))


@torch.inference_mode()
def _seen(model: Model, dev: DevSet) -> Iterator[Seen]:
    model.eval()
    for batch, _ in dev.parts:
        tile = model.tile(Tensors.of(batch, next(model.parameters()).device))
        cells = tile.is_source[:, :, None] & tile.is_target[:, None, :]
        yield Seen(in_numpy(model.head().log_odds(tile)), in_numpy(cells), batch.links)


def _links(seen: Iterable[Seen], level: int) -> tuple[np.ndarray, np.ndarray]:
    """The log-odds of all cells, and whether each is a link."""
    found = [(one.log_odds[level][one.cells], one.links[level][one.cells]) for one in seen]
    return tuple(map(np.concatenate, zip(*found, strict=True)))  # pyright: ignore[reportReturnType]


def _nulls(seen: Iterable[Seen], calibration: np.ndarray, level: int) -> tuple[np.ndarray, np.ndarray]:
    """The log-odds that words are null, and whether each is."""
    odds, facts = [], []
    for one in seen:
        links = link_probabilities(one.log_odds, one.cells, calibration, LEVELS[level])
        for axis in (2, 1):
            words = one.cells.any(axis=axis)
            odds.append(null_log_odds(links, axis)[words])
            facts.append(~one.links[level].any(axis=axis)[words])
    return np.concatenate(odds), np.concatenate(facts).astype(float)


def _fitted_levels(data: Iterable[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    return np.array([_fitted(*one) for one in data], dtype=np.float32).T


def _fitted(odds: np.ndarray, facts: np.ndarray) -> np.ndarray:
    """The scale and shift of the log-odds under which the facts are most likely, by Newton's method.

    Facts that are all alike, or foretold without a fault, have no such: then nothing is changed.
    """
    no, yes = odds[facts == 0], odds[facts == 1]
    if not len(no) or not len(yes) or no.max() <= yes.min() or yes.max() <= no.min():
        return UNCHANGED
    middle, spread = odds.mean(dtype=float), odds.std(dtype=float)
    x = np.stack([(odds - middle) / spread, np.ones(len(odds))])  # (2, items)
    at = np.zeros(2)
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-at @ x))
        step = np.linalg.solve((x * (p * (1 - p))) @ x.T, x @ (facts - p))
        while abs(step).max() > CLOSE and _unlikelihood(at + step, x, facts) > _unlikelihood(at, x, facts):
            step = step / 2  # far from the end a whole step may be too far
        if abs(step).max() <= CLOSE:
            break
        at = at + step
    scale = at[0] / spread
    return np.array([scale, at[1] - scale * middle]) if scale > 0 else UNCHANGED


def _unlikelihood(at: np.ndarray, x: np.ndarray, facts: np.ndarray) -> float:
    return float(np.logaddexp(0, np.where(facts > 0, -at @ x, at @ x)).sum())
