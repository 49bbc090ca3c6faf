"""Order, structure and phrases: the effect of each setting for phrases on the dev sets and the test sets.

A variant is the default aligner with other settings, the same for all corpora. Its threshold, also the same
for all, has the best mean F1 over the columns of the dev sets. The figures are that mean, F1 in the bin of
pairs with the most phrase links, and precision and recall of sure links between different words.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import mean
from typing import Any, Literal

import numpy as np

from experiments import table_format
from experiments.columns import COLUMNS, DEVS, Column, dev_levels
from experiments.study_data import StudyData
from experiments.unsupervised.figures.lines import BINS, PlotLine, draw_lines
from otalign.aligner import Aligner
from otalign.alignment import Alignment
from otalign.encoders import Embeddings
from otalign.encoders.chunks import EmbeddedPairs
from otalign.encoders.whitening import Centre
from otalign.metrics import Counts, break_down, compute_scores, count
from otalign.ot import Unbalanced
from otalign.problems import find_spec
from otalign.render.canvas import save
from otalign.settings import Settings
from otalign.text.words import join_words
from otalign.tuning import THRESHOLDS, EncoderChoice
from otalign.tuning.sweep import DevCorpus

Split = Literal["dev", "test"]
ALL: dict[str, Any] = {
    "structure": 0.3,
    "fertility": "length",
    "mutuality": 0.75,
    "completion": 0.6,
    "distortion": 0.15,
}
DEFAULT_THRESHOLD = {"threshold": find_spec(Settings.problem).threshold}


def _select(*names: str) -> dict[str, Any]:
    return {name: ALL[name] for name in names}


def _leave_out(name: str) -> dict[str, Any]:
    """Return all settings with another one at its default, which is none for smoothing and distortion."""
    default = 0.0 if name in ("smoothing", "distortion") else getattr(Settings, name)
    return ALL | {name: default}


# A variant with a threshold keeps it; the others get the best on the dev sets.
VARIANTS: dict[str, dict[str, Any]] = {
    "UOT of the paper": {"problem": Unbalanced(0.8), "whitening": 0.0, "smoothing": 0.0, "distortion": 0.3},
    "default": DEFAULT_THRESHOLD,
    "default, own threshold": {},
    "order": {"order": 0.06},
    "structure": _select("structure"),
    "length": _select("fertility"),
    "mutuality": _select("mutuality"),
    "completion": _select("completion"),
    "mutuality and completion": _select("mutuality", "completion"),
    "all": ALL | DEFAULT_THRESHOLD,
    "all, own threshold": ALL,
    "all but structure": _leave_out("structure"),
    "all but length": _leave_out("fertility"),
    "all but mutuality": _leave_out("mutuality"),
    "all but completion": _leave_out("completion"),
    "all but distortion": _leave_out("distortion"),
    "all but smoothing": _leave_out("smoothing"),
}
LINES = {
    "UOT of the paper": PlotLine("", "UOT", "#009E73", "^"),
    "default": PlotLine("", "default", "#222222", "o"),
    "mutuality and completion": PlotLine("", "mutuality, completion", "#D55E00", "s"),
    "all": PlotLine("", "all", "#0072B2", "D", "--"),
}


@dataclass(frozen=True, eq=False)
class VariantResult:
    """A variant on the columns of a split: counts of each pair, rates of links between different words."""

    variant: str
    threshold: float
    counts: Mapping[Column, Counts]
    different: Mapping[str, tuple[float, float]]  # recall and precision, by corpus

    @cached_property
    def f1(self) -> dict[Column, float]:
        """F1 of each column, in percent."""
        return {column: 100 * compute_scores(counts, ["f1"])["f1"] for column, counts in self.counts.items()}

    @property
    def pool(self) -> Counts:
        """Counts of the sure links of all pairs."""
        return Counts.concatenate(counts for column, counts in self.counts.items() if column.level == "sure")

    @property
    def bin_f1(self) -> float:
        """F1 of the pairs with the most phrase links, in percent."""
        last = break_down(self.pool, "phrase_share", BINS)[-1]
        return 100 * compute_scores(last.counts, ["f1"])["f1"]


@dataclass(frozen=True, eq=False)
class PhraseStudy:
    """The variants with one encoder."""

    data: StudyData
    choice: EncoderChoice

    def list_columns(self, split: Split) -> tuple[Column, ...]:
        """Return the columns of a split: those with a dev set of their own, or all."""
        return tuple(column for column in COLUMNS if split == "test" or column.corpus in DEVS)

    def find_threshold(self, settings: Settings) -> float:
        """Find the threshold that is best for all dev sets together, by the mean F1 of their columns."""
        curves = []
        for dev in DEVS:
            golds, embeddings = self.data.get_golds(dev, "dev"), self._embed(dev, "dev", settings.whitening)
            corpus = DevCorpus.build(golds, embeddings, dev_levels(dev))
            found = corpus.compute_curves(corpus.compute_inputs(settings), settings)
            curves += [curve.f1 for curve in found.values()]
        return THRESHOLDS[int(np.mean(curves, axis=0).argmax())]

    def score(self, variant: str, threshold: float | None, split: Split) -> VariantResult:
        """Score a variant on all columns of a split; without a threshold, with its own or the best on dev."""
        settings = self.data.make_settings(self.choice).replace(**VARIANTS[variant])
        threshold = threshold or VARIANTS[variant].get("threshold") or self.find_threshold(settings)
        settings = settings.replace(threshold=threshold)
        counts: dict[Column, Counts] = {}
        different: dict[str, tuple[float, float]] = {}
        for corpus in dict.fromkeys(column.corpus for column in self.list_columns(split)):
            alignments = list(self._align(corpus, split, settings))
            golds = self.data.get_golds(corpus, split)
            different[corpus] = compute_rates_of_different_words(alignments, golds)
            for column in self.list_columns(split):
                if column.corpus == corpus:
                    counts[column] = count(alignments, golds, column.level)
        return VariantResult(variant, settings.threshold, counts, different)

    def _align(self, corpus: str, split: Split, settings: Settings) -> Iterator[Alignment]:
        pairs = [(join_words(g.source), join_words(g.target)) for g in self.data.get_golds(corpus, split)]
        embeddings = self._embed(corpus, split, settings.whitening)
        aligner = Aligner(self.data.encoder, settings)
        chunk = EmbeddedPairs(pairs, embeddings).append_features(aligner.scorer.word_features)
        return aligner.align_chunk(chunk)

    def _embed(self, corpus: str, split: Split, whitening: float) -> Embeddings:
        if split == "test":
            return self.data.get_centred_embeddings(corpus, self.choice, whitening)
        embeddings = self.data.open_store(corpus, split, [self.choice])[self.choice]
        return Centre.fit([embeddings], whitening).apply(embeddings)


def compute_rates_of_different_words(
    alignments: Sequence[Alignment], golds: Sequence[Any]
) -> tuple[float, float]:
    """Compute recall and precision of sure links between words that differ, in percent, over all pairs."""
    correct = predicted = sure = 0
    for alignment, gold in zip(alignments, golds, strict=True):
        found, true = (
            {(i, j) for i, j in links if gold.source[i].lower() != gold.target[j].lower()}
            for links in (alignment.pairs, gold.pairs("sure"))
        )
        correct, predicted, sure = correct + len(found & true), predicted + len(found), sure + len(true)
    return 100 * correct / max(sure, 1), 100 * correct / max(predicted, 1)


def run_phrases(data: StudyData, choice: EncoderChoice, test: bool) -> dict[Split, list[VariantResult]]:
    """Score all variants on the dev sets and, if wanted, with the same thresholds on the test sets."""
    study = PhraseStudy(data, choice)
    dev = []
    for done, variant in enumerate(VARIANTS):
        data.progress("variants", done, len(VARIANTS))
        dev.append(study.score(variant, None, "dev"))
    results: dict[Split, list[VariantResult]] = {"dev": dev}
    if test:
        results["test"] = [study.score(one.variant, one.threshold, "test") for one in dev]
    return results


def format_results(results: Mapping[Split, Sequence[VariantResult]], encoder: str, layer: int) -> str:
    """Format the tables of a study as Markdown."""
    parts = [f"# Phrases: {encoder}, layer {layer}"]
    for split, rows in results.items():
        parts += [f"## {split.capitalize()} sets", _format_f1(rows), _format_different(rows)]
    return "\n\n".join(parts) + "\n"


def _format_f1(rows: Sequence[VariantResult]) -> str:
    headings = ["threshold", "mean", "most phrases", *(column.heading for column in rows[0].f1)]
    lines = [
        (
            row.variant,
            [
                f"{row.threshold:.2f}",
                *(f"{x:.1f}" for x in (mean(row.f1.values()), row.bin_f1, *row.f1.values())),
            ],
        )
        for row in rows
    ]
    return table_format.format_table(headings, lines)


def _format_different(rows: Sequence[VariantResult]) -> str:
    titles = {column.corpus: column.title for column in rows[0].f1}
    headings = [
        f"{titles[corpus]} {rate}" for corpus in rows[0].different for rate in ("recall", "precision")
    ]
    lines = [(row.variant, [f"{x:.1f}" for both in row.different.values() for x in both]) for row in rows]
    return "Sure links between different words:\n\n" + table_format.format_table(headings, lines)


def write(
    results: Mapping[Split, Sequence[VariantResult]], encoder: str, layer: int, folder: Path
) -> list[Path]:
    """Write the tables of a study; return the files."""
    name = f"phrases-{Path(encoder).name}"
    return table_format.write_tables(folder, name, {"md": format_results(results, encoder, layer)})


def plot(results: Mapping[Split, Sequence[VariantResult]], encoder: str, folder: Path) -> list[Path]:
    """Draw F1 by phrase share, a panel for each split, as SVG and PNG; return the files."""
    panels = {
        f"{split.capitalize()} sets": {LINES[row.variant]: [row.pool] for row in rows if row.variant in LINES}
        for split, rows in results.items()
    }
    folder.mkdir(parents=True, exist_ok=True)
    return save(draw_lines("phrase_share", panels), folder / f"phrases-{Path(encoder).name}")
