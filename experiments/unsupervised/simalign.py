"""SimAlign on the same centred embeddings as transport; distortion and null threshold are tuned on dev sets.

The null threshold applies to the entropy of a word's similarities. Its scale depends on the encoder, so the
thresholds are percentiles of the entropies of links on the dev set, and none.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from experiments.study_data import StudyData
from experiments.unsupervised.system import Figures, Tuning, make_alignments
from otalign.alignment import Alignment, Level
from otalign.baselines import IterMax, SimAlign, compute_similarity
from otalign.baselines.simalign import apply_distortion, compute_link_entropy
from otalign.encoders import Embeddings
from otalign.encoders.embeddings import to_numpy
from otalign.encoders.whitening import Centre
from otalign.gold import Gold
from otalign.metrics import Tally
from otalign.tuning import Curve, EncoderChoice

DISTORTIONS = tuple(k / 10 for k in range(11))


@dataclass(frozen=True)
class SimAlignRow:
    """SimAlign with IterMax, and the distortions to try."""

    name: str
    title: str
    matching: IterMax = IterMax()
    distortions: tuple[float, ...] = DISTORTIONS
    percentiles: tuple[int, ...] = tuple(range(2, 100, 2))

    embeds = True

    def tune(
        self, data: StudyData, corpus: str, choice: EncoderChoice, levels: tuple[Level, ...]
    ) -> dict[Level, Tuning]:
        golds = data.get_golds(corpus, "dev")
        embeddings = data.open_store(corpus, "dev", [choice])[choice]
        matrices = compute_similarities(Centre.fit([embeddings]).apply(embeddings))
        best: dict[Level, tuple[float, SimAlign, Figures]] = {}
        for k, distortion in enumerate(self.distortions):
            data.progress(f"{self.name}, {corpus} dev", k, len(self.distortions))
            system = SimAlign(self.matching, distortion)
            for level, curve in compute_curves(system, self.percentiles, matrices, golds, levels).items():
                at = curve.best
                f1 = round(float(curve.f1[at]), 10)  # the precision at which `tune` compares
                if level not in best or f1 > best[level][0]:
                    found = Figures(float(curve.precision[at]), float(curve.recall[at]), len(golds))
                    best[level] = f1, replace(system, threshold=float(curve.thresholds[at])), found
        data.progress(f"{self.name}, {corpus} dev", len(self.distortions), len(self.distortions))
        return {level: self._make_tuning(data, choice, *best[level][1:]) for level in levels}

    def align(self, data: StudyData, corpus: str, tuning: Tuning) -> Iterable[Alignment]:
        settings = tuning.settings
        system = SimAlign(self.matching, settings["distortion"], settings["threshold"])
        matrices = compute_similarities(
            data.get_centred_embeddings(corpus, EncoderChoice(settings["layer"], settings["pairing"]))
        )
        return make_alignments(data.get_golds(corpus, "test"), map(system.align, matrices))

    def _make_tuning(self, data: StudyData, choice: EncoderChoice, system: SimAlign, dev: Figures) -> Tuning:
        settings: dict[str, Any] = {
            "encoder": data.encoder.name,
            "layer": choice.layer,
            "pairing": choice.pairing,
            "centring": True,
            "system": "simalign",
            "matching": {"name": "itermax", **asdict(self.matching)},
            "distortion": system.distortion,
            "threshold": system.threshold,
        }
        return Tuning(settings, settings | {"matching": "itermax", **asdict(self.matching)}, dev)


def compute_similarities(embeddings: Embeddings) -> list[np.ndarray]:
    """Compute the similarities (n, m) of each pair."""
    sources = range(0, len(embeddings.starts) - 1, 2)
    return [compute_similarity(to_numpy(embeddings[k]), to_numpy(embeddings[k + 1])) for k in sources]


def compute_curves(
    system: SimAlign,
    percentiles: Sequence[int],
    matrices: Sequence[np.ndarray],
    golds: Sequence[Gold],
    levels: Iterable[Level],
) -> dict[Level, Curve]:
    """Compute the scores of a system at each threshold, from a single matching."""
    links, entropies = [], []
    for S in matrices:
        found = np.array(sorted(system.align(S)), dtype=np.intp).reshape(-1, 2).T
        # Rounding may leave an entropy a little above one, at which nothing is dropped.
        entropy = (
            np.minimum(compute_link_entropy(apply_distortion(S, system.distortion))[*found], 1)
            if S.size
            else []
        )
        links.append(found)
        entropies.append(np.asarray(entropy, dtype=float))
    thresholds = np.unique([*np.percentile(np.concatenate([*entropies, [1.0]]), percentiles), 1.0])
    rates: dict[Level, list[tuple[Any, Any]]] = {level: [] for level in levels}
    for gold, found, entropy in zip(golds, links, entropies, strict=True):
        # The first threshold that keeps a link; one past the last where there is none.
        first = np.full(gold.shape, len(thresholds))
        first[*found] = np.searchsorted(thresholds, entropy, side="left")
        for level, values in rates.items():
            tally = _tally_pair(first, gold, level, len(thresholds))
            values.append((tally.precision, tally.recall))
    return {level: Curve(thresholds, *np.mean(values, axis=0)) for level, values in rates.items()}


def _tally_pair(first: np.ndarray, gold: Gold, level: Level, count: int) -> Tally:
    """Count links and nulls of a pair at each of `count` thresholds, given the first that keeps each cell."""

    def keep_links(firsts: np.ndarray) -> np.ndarray:
        return np.cumsum(np.bincount(firsts.reshape(-1), minlength=count + 1))[:count]

    pairs = gold.pairs(level)
    true = np.array(sorted(pairs), dtype=np.intp).reshape(-1, 2).T
    correct, predicted, total = keep_links(first[*true]), keep_links(first), len(pairs)
    for side in (0, 1):
        words = first.min(axis=1 - side, initial=count)
        null = np.ones(len(words), dtype=bool)
        null[true[side]] = False
        correct = correct + null.sum() - keep_links(words[null])
        predicted = predicted + len(words) - keep_links(words)
        total += int(null.sum())
    return Tally(correct, predicted, total)
