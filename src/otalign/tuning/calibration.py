"""Calibration of a trained aligner on dev sets, and the choice of its thresholds.

Calibration is a logistic regression on the logit x of each level, in the form of beta calibration: the slope
of positive logits and that of negative ones differ. It is fitted first for links, then, with their
calibrated probabilities, for nulls. All dev sets have the same weight, whatever their size.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import numpy as np

from otalign.aligner import Aligner
from otalign.alignment import LEVELS, Level
from otalign.encoders.embeddings import to_numpy
from otalign.gold import Gold
from otalign.scoring import PairBatch, TransportHead, split_into_batches
from otalign.scoring.extraction import apply_hysteresis
from otalign.scoring.learned import BUDGET, compute_link_probabilities, compute_null_logits
from otalign.settings import LEARNED, Learned
from otalign.tuning.sweep import DIGITS, THRESHOLDS, Curve, MarkedBatch, compute_curves, mark_batch

STEPS = 50  # maximum number of Newton steps; ten are usually enough
CLOSE = 1e-7  # tolerance of a step
RANK = 1e-9  # tolerance of a rank
RIDGE = 0.001  # weight of a slope that differs from 1, as a share of the weight of all positive labels
IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
# With more, pairs of the behaviour suite may get wrong links, such as between an article and a plural.
HYSTERESIS_VALUES = (0.0, 0.05, 0.1, 0.15, 0.2)


class LabelledLogits(NamedTuple):
    """Logits of a batch of pairs, with their gold."""

    indices: list[int]  # indices of the pairs in their set
    golds: list[Gold]
    batch: PairBatch  # without the vectors
    logits: np.ndarray  # (levels, B, N, M)

    @property
    def cells(self) -> np.ndarray:
        """Mask of the pairs of words, (B, N, M)."""
        return self.batch.cells

    def get_links(self, level: int) -> np.ndarray:
        """Return the mask of the gold links of a level, (B, N, M)."""
        mask = np.zeros(self.cells.shape, dtype=bool)
        for k, gold in enumerate(self.golds):
            for i, j in gold.pairs(LEVELS[level]):
                mask[k, i, j] = True
        return mask


@dataclass(frozen=True, eq=False)
class DevLogits:
    """The logits of a trained aligner for a dev set."""

    pairs: int
    levels: tuple[Level, ...]
    batches: list[LabelledLogits]

    @classmethod
    def compute(cls, aligner: Aligner, golds: Sequence[Gold], level: Level | None = None) -> "DevLogits":
        """Compute the logits for a dev set, at one level or at those at which the gold differs."""
        batches, first, head = [], 0, get_transport_head(aligner)
        for _, embeddings in aligner.embed((gold.source, gold.target) for gold in golds):
            on_device = head.to_device(embeddings.vectors)
            for indices, batch in split_into_batches(embeddings, BUDGET):
                indices = [first + k for k in indices]
                words = PairBatch(None, None, to_numpy(batch.is_source), to_numpy(batch.is_target))
                logits = to_numpy(on_device.compute_logits(batch))
                batches.append(LabelledLogits(indices, [golds[k] for k in indices], words, logits))
            first += len(embeddings.shapes)
        levels = LEVELS if any(gold.possible for gold in golds) else LEVELS[:1]
        return cls(len(golds), (level,) if level else levels, batches)

    def compute_curves(self, head: TransportHead, hysteresis: float = 0.0) -> dict[Level, Curve]:
        """Compute precision and recall at all thresholds, at each level, with the head's calibration."""

        def score() -> Iterator[tuple[MarkedBatch, dict[Level, np.ndarray]]]:
            for one in self.batches:
                scores: dict[Level, np.ndarray] = {
                    level: compute_link_probabilities(one.logits, one.cells, head.calibration, level)
                    for level in self.levels
                }
                scores = {level: apply_hysteresis(links, hysteresis) for level, links in scores.items()}
                yield mark_batch(one.indices, one.batch, one.golds, self.levels), scores

        return compute_curves(self.pairs, self.levels, score())


def get_transport_head(aligner: Aligner) -> TransportHead:
    """Return the head of an aligner that has learned its transport.

    Raises:
        TypeError: If it has not.
    """
    if aligner.settings.problem_name != LEARNED:
        raise TypeError(f"aligner must have a learned transport, got the head {aligner.head!r}")
    return cast(TransportHead, aligner.head)


def calibrate(
    aligner: Aligner,
    devs: Mapping[str, Sequence[Gold]],
    level: Level | None = None,
    hysteresis: Mapping[Level, float] | None = None,
) -> tuple[Aligner, dict[str, dict[Level, Curve]]]:
    """Calibrate a trained aligner on dev sets, and choose its thresholds.

    Args:
        aligner: An aligner that has learned its transport.
        devs: Dev sets by name.
        level: The only level that the aligner has learned; None if it has learned both.
        hysteresis: Hysteresis of each level; by default one of up to 0.2 that raises the mean F1.

    Returns:
        The aligner, calibrated on all dev sets together, with a hysteresis of each level and the best
        thresholds for it; and its curves on each dev set. A dev set counts at the levels at which its links
        differ.

    Raises:
        TypeError: If the aligner has not learned its transport.

    Example:
        >>> from otalign import Aligner, Gold
        >>> from otalign.tuning import calibrate
        >>> golds = [Gold(("a", "used", "car"), ("a", "car"), frozenset({(0, 0), (2, 1)}))]
        >>> aligner, curves = calibrate(Aligner.load(), {"mine": golds})
        >>> float(curves["mine"]["sure"].f1.max())
        1.0
    """
    sets = {name: DevLogits.compute(aligner, golds, level) for name, golds in devs.items()}
    head = calibrate_head(get_transport_head(aligner), list(sets.values()))
    choices: dict[Level, tuple[float, ...]] = {
        one: (hysteresis[one],) if hysteresis else HYSTERESIS_VALUES for one in LEVELS
    }
    tried = {
        value: {name: each.compute_curves(head, value) for name, each in sets.items()}
        for value in sorted({value for values in choices.values() for value in values})
    }
    best = {
        one: found
        for one, values in choices.items()
        if (found := _choose_threshold({value: tried[value] for value in values}, one))
    }
    # Where all links are sure, the possible ones are the same; a level that is not learned copies the other.
    default = next(iter(best.values()), (0.5, 0.0))
    (sure, sure_hysteresis), (possible, possible_hysteresis) = (best.get(one, default) for one in LEVELS)
    problem = Learned(sure, possible, sure_hysteresis, possible_hysteresis)
    if hysteresis:
        given = {f"{one}_hysteresis": value for one, value in hysteresis.items()}
        problem = replace(problem, **given)
    settings = aligner.settings.replace(problem=problem, threshold=None, hysteresis=None)
    curves: dict[str, dict[Level, Curve]] = {
        name: {one: tried[best[one][1]][name][one] for one in dev.levels} for name, dev in sets.items()
    }
    return replace(aligner, settings=settings, head=head), curves


def _choose_threshold(
    tried: Mapping[float, Mapping[str, Mapping[Level, Curve]]], level: Level
) -> tuple[float, float] | None:
    """Return a hysteresis, and before it the best threshold with it; None if no dev set has the level.

    The hysteresis is the largest one that keeps half of what the best one gains in mean F1: a larger one
    finds more of the phrases, which few pairs have.

    Args:
        tried: Curves of the dev sets for each hysteresis.
        level: Level of the links.
    """
    means = {one: max(_compute_mean_f1(curves.values(), level), default=0.0) for one, curves in tried.items()}
    least = means[min(means)]
    half = (least + max(means.values())) / 2
    hysteresis = max((one for one, f1 in means.items() if f1 >= half > least), default=min(means))
    threshold = find_best_threshold(tried[hysteresis].values(), level)
    return None if threshold is None else (threshold, hysteresis)


def find_best_threshold(curves: Iterable[Mapping[Level, Curve]], level: Level) -> float | None:
    """Return the first threshold with the highest mean F1 over the dev sets that have the level."""
    f1 = _compute_mean_f1(curves, level)
    return THRESHOLDS[int(np.argmax(f1))] if len(f1) else None


def _compute_mean_f1(curves: Iterable[Mapping[Level, Curve]], level: Level) -> np.ndarray:
    """Return the mean F1 at each threshold over the dev sets that have a level; nothing without any."""
    f1 = [by_level[level].f1 for by_level in curves if level in by_level]
    return np.round(np.mean(f1, axis=0), DIGITS) if f1 else np.zeros(0)


def calibrate_head(head: TransportHead, sets: Sequence[DevLogits]) -> TransportHead:
    """Return the head with a calibration that was fitted to the logits of dev sets."""
    every = [dev.batches for dev in sets]
    by_level = [[dev.batches for dev in sets if level in dev.levels] or every for level in LEVELS]
    links = ([_collect_links(batches, k) for batches in devs] for k, devs in enumerate(by_level))
    head = replace(head, calibration=_fit_levels(links))
    calibration = head.calibration
    nulls = ([_collect_nulls(batches, calibration, k) for batches in devs] for k, devs in enumerate(by_level))
    return replace(head, null_calibration=_fit_levels(nulls))


def _collect_links(batches: Iterable[LabelledLogits], level: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the logits of all cells, and whether each is a link."""
    parts = [(batch.logits[level][batch.cells], batch.get_links(level)[batch.cells]) for batch in batches]
    return tuple(map(np.concatenate, zip(*parts, strict=True)))  # pyright: ignore[reportReturnType]


def _collect_nulls(
    batches: Iterable[LabelledLogits], calibration: np.ndarray, level: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the logits of all words being null, and whether each is."""
    logits, labels = [], []
    for one in batches:
        links = compute_link_probabilities(one.logits, one.cells, calibration, LEVELS[level])
        for axis in (2, 1):
            words = np.any(one.cells, axis=axis)
            logits.append(compute_null_logits(links, axis)[words])
            labels.append(~np.any(one.get_links(level), axis=axis)[words])
    return np.concatenate(logits), np.concatenate(labels).astype(float)


def _fit_levels(data: Iterable[Sequence[tuple[np.ndarray, np.ndarray]]]) -> np.ndarray:
    """Fit a calibration for each level, given logits and labels of each dev set."""
    return np.array([_fit_calibration(sets) for sets in data], dtype=np.float32).T


def _fit_calibration(sets: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Fit scale, shift and tilt to the logits and labels of several sets by penalized maximum likelihood.

    There is no tilt where it would make the calibration decrease. If labels are all equal, or separated
    without an error, the calibration is the identity.
    """
    logits, labels = map(np.concatenate, zip(*sets, strict=True))
    weights = np.concatenate([np.full(len(x), len(logits) / max(1, len(x)) / len(sets)) for x, _ in sets])
    no, yes = logits[labels == 0], logits[labels == 1]
    if not len(no) or not len(yes) or no.max() <= yes.min() or yes.max() <= no.min():
        return IDENTITY
    both = np.stack([np.logaddexp(0, logits), -np.logaddexp(0, -logits)])  # their sum is the logits
    rise, fall, shift = _fit_logistic_regression(both, labels, weights)
    if min(rise, fall) < 0:
        rise, shift = _fit_logistic_regression(logits[None], labels, weights)
        fall = rise
    return np.array([(rise + fall) / 2, 0.0, shift, (rise - fall) / 2]) if rise + fall > 0 else IDENTITY


def _fit_logistic_regression(features: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Fit the coefficients of features (k, items), and a shift, to weighted labels by Newton's method.

    Coefficients that differ from 1 are penalized.
    """
    x = np.concatenate([features, np.ones((1, len(labels)))], dtype=float)
    prior = np.append(np.ones(len(features)), 0.0)
    penalty, at = RIDGE * (weights @ labels) * prior, np.zeros(len(x))

    def compute_loss(at: np.ndarray) -> float:
        loss = weights @ np.logaddexp(0, np.where(labels > 0, -at @ x, at @ x))
        return float(loss + penalty @ (at - prior) ** 2 / 2)

    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(at @ x, -60, 60)))
        hessian = (x * (weights * p * (1 - p))) @ x.T + np.diag(penalty)
        gradient = x @ (weights * (labels - p)) - penalty * (at - prior)
        step = np.linalg.lstsq(hessian, gradient, rcond=RANK)[0]
        while abs(step).max() > CLOSE and compute_loss(at + step) > compute_loss(at):
            step = step / 2  # far from the minimum a whole step may be too long
        if abs(step).max() <= CLOSE:
            break
        at = at + step
    return at
