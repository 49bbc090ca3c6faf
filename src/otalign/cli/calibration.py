"""Calibration of a trained aligner by `otalign tune`."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from otalign.aligner import Aligner
from otalign.alignment import Level
from otalign.cli.epochs import print_scores
from otalign.cli.gold import load_split
from otalign.cli.terminal import show_activity
from otalign.gold import Gold
from otalign.io import CORPORA
from otalign.quantities import count_noun
from otalign.training import CorpusSplits
from otalign.training.epochs import find_best_scores
from otalign.training.sources import parse_trained_corpora
from otalign.tuning import calibrate


def calibrate_and_save(
    aligner: Aligner,
    devs: Mapping[str, Sequence[Gold]],
    data: Path | None,
    output: Path,
    hysteresis: Mapping[Level, float] | None,
) -> None:
    """Calibrate a trained aligner on dev sets together, save it, and print its scores.

    Pairs that share a sentence with the train set of a corpus that it was trained on are left out, as
    `otalign train` does.

    Args:
        aligner: The aligner.
        devs: Dev sets, by the name of their corpus or file.
        data: Folder of the corpora.
        output: Folder for the calibrated aligner.
        hysteresis: Hysteresis of each level; None for the best.
    """
    learned = parse_trained_corpora(aligner.settings.trained) & CORPORA.keys()
    sources = {
        name: CorpusSplits(load_split(name, "train", data) if name in learned else (), golds)
        for name, golds in devs.items()
    }
    with show_activity("calibrating"):
        unseen = {name: one.unseen_dev for name, one in sources.items()}
        finished, curves = calibrate(aligner, unseen, hysteresis=hysteresis)
    finished.save(output)
    for name, source in sources.items():
        print(f"{name}: calibrated on {_describe_pairs(source)}")
    print_scores(find_best_scores(curves), finished, output)


def _describe_pairs(source: CorpusSplits) -> str:
    """Say how many dev pairs are used, and why the others are not."""
    used = count_noun(len(source.unseen_dev), "dev pair")
    others = len(source.dev) - len(source.unseen_dev)
    return f"{used}; {others:,} left out that share a sentence with the train set" if others else used
