"""Alignment methods of `--method`: transport or a baseline, each with its own options and no others."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from otalign.baselines import FastAligner, Matching, MaximumMatching, SimAlign, SimAligner
from otalign.baselines.aligners import MATCHINGS
from otalign.cli.aligner_options import AlignerOptions
from otalign.cli.input import Pairs, list_siblings, read_pairs
from otalign.io import CORPORA
from otalign.io.lines import STDIN
from otalign.method import Method
from otalign.problems import PARAMETERS
from otalign.progress import Progress
from otalign.settings.transport import PHRASES
from otalign.suggestions import suggest

ENCODING = ("model", "layer", "pairing", "centring", "device", "batch_size", "threads")
TRANSPORT = ("problem", *PARAMETERS, "links", "threshold", "cost", "fertility", "epsilon", "exact")
OPTIONS = {
    "ot": (*ENCODING, *TRANSPORT, "precision", "whitening", "smoothing", "distortion", *PHRASES),
    "simalign": (*ENCODING, "matching", "distortion", "null_threshold"),
    "fast-align": ("symmetrise", "train"),
}


def check_method(options: AlignerOptions) -> None:
    """Check that the method has a use for every option that was given.

    Raises:
        ValueError: An option belongs to other methods.
    """
    for name, value in options.get_changes().items():
        if name in ("method", *OPTIONS[options.method]):
            continue
        if name == "model" and value == os.environ.get("OTALIGN_MODEL"):  # set for all commands that use one
            continue
        having = " or ".join(method for method, names in OPTIONS.items() if name in names)
        option = "no-centring" if name == "centring" and not value else name.replace("_", "-")
        raise ValueError(f"--{option} applies only to --method {having}; remove it or choose {having}")


def load_method(options: AlignerOptions, more: Sequence[Pairs], progress: Progress) -> Method:
    """Load the method; `more` are further pairs that fast_align learns from."""
    match options.method:
        case "simalign":
            return _load_simalign(options)
        case "fast-align":
            return _build_fast_align(options, more, progress)
    return options.load()


def _load_simalign(options: AlignerOptions) -> SimAligner:
    if options.model is None:
        raise ValueError(
            "give --model (or set OTALIGN_MODEL), an encoder for simalign: its folder, or its name on the "
            "Hugging Face hub"
        )
    given = options.select_options("distortion")
    if options.null_threshold is not None:
        if not 0 <= options.null_threshold <= 1:
            raise ValueError(f"--null-threshold must be from 0 to 1, got {options.null_threshold:g}")
        given["threshold"] = options.null_threshold
    if options.matching is not None:
        given["matching"] = _build_matching(options.matching)
    encoder = options.prepare_encoder_options() | options.select_options("pairing", "centring")
    return SimAligner.load(options=SimAlign(**given), **encoder)


def _build_matching(name: str) -> Matching:
    matching = MATCHINGS[name]()
    if isinstance(matching, MaximumMatching):
        matching.match(np.ones((1, 1)))  # without SciPy it fails, and should before the work
    return matching


def _build_fast_align(options: AlignerOptions, more: Sequence[Pairs], progress: Progress) -> FastAligner:
    given: dict[str, Any] = {} if options.symmetrise is None else {"symmetrisation": options.symmetrise}
    words = [(source.words, target.words) for pairs in more for source, target in pairs]
    return FastAligner(more=words, progress=progress, **given)


def read_training_pairs(
    names: Sequence[str], pretokenized: bool, data: Path | None, option: str = "--train"
) -> Iterator[Pairs]:
    """Read the pairs of each file or corpus that an option names; of a corpus without a split, all splits."""
    for given in names:
        name, _, split = given.partition(":")
        if name in CORPORA:
            for each in (split,) if split else CORPORA[name].files:
                yield read_pairs([name], None, pretokenized, each, data)
        elif given == STDIN or not Path(given).exists():
            meant = suggest(given, [*CORPORA, *list_siblings(given)])
            raise ValueError(f"{option} must be a file or one of {', '.join(CORPORA)}, got {given!r}{meant}")
        else:
            yield read_pairs([given], None, pretokenized, "", data)
