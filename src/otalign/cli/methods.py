"""What `--method` chooses: transport or one of the baselines, each with its own options and no others."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from otalign.aligner import Method
from otalign.baselines import FastAlign, FastAligner, Matching, MaximumMatching, SimAlign, SimAligner
from otalign.baselines.aligners import MATCHINGS
from otalign.cli.aligner_options import SYMMETRISATIONS, AlignerOptions
from otalign.cli.input import Pairs, pairs_of
from otalign.io import CORPORA
from otalign.io.lines import STDIN
from otalign.progress import Progress

ENCODING = ("model", "layer", "pairing", "centring", "device", "batch_size", "threads")
TRANSPORT = ("problem", "tau", "fraction", "links", "threshold", "cost", "fertility", "epsilon", "exact")
OPTIONS = {
    "ot": (*ENCODING, *TRANSPORT, "precision", "whitening", "smoothing", "distortion"),
    "simalign": (*ENCODING, "matching", "distortion", "null_threshold"),
    "fast-align": ("symmetrise", "train"),
}


def check_method(options: AlignerOptions) -> None:
    """Refuse a method that is none, and options that the method has no use for."""
    if options.method not in OPTIONS:
        raise ValueError(f"--method must be one of {', '.join(OPTIONS)}, got {options.method!r}")
    for field in fields(options):
        name, value = field.name, getattr(options, field.name)
        if value in (field.default, []) or name in ("method", *OPTIONS[options.method]):
            continue
        if name == "model" and value == os.environ.get("OTALIGN_MODEL"):  # set once for all that want one
            continue
        having = " or ".join(method for method, names in OPTIONS.items() if name in names)
        option = "no-centring" if name == "centring" and not value else name.replace("_", "-")
        raise ValueError(f"--{option} is for --method {having}, not {options.method}; leave it out")


def chosen_method(options: AlignerOptions, more: Sequence[Pairs], progress: Progress) -> Method:
    """The method as said, ready to align; `more` are the pairs that fast-align learns from besides."""
    match options.method:
        case "simalign":
            return _simalign(options)
        case "fast-align":
            return _fast_align(options, more, progress)
    return options.load()


def _simalign(options: AlignerOptions) -> SimAligner:
    if options.model is None:
        raise ValueError(
            "give --model (or set OTALIGN_MODEL), an encoder for simalign: its folder, or its name on the "
            "Hugging Face hub"
        )
    said = options.select_given("distortion")
    if options.null_threshold is not None:
        said["threshold"] = options.null_threshold
    if options.matching is not None:
        said["matching"] = _matching(options.matching)
    chosen = SimAlign(**said)
    return SimAligner.load(options=chosen, **options.encoder(), **options.select_given("pairing", "centring"))


def _matching(name: str) -> Matching:
    if name not in MATCHINGS:
        raise ValueError(f"--matching must be one of {', '.join(MATCHINGS)}, got {name!r}")
    matching = MATCHINGS[name]()
    if isinstance(matching, MaximumMatching):
        matching.matrix(np.ones((1, 1)))  # without SciPy it fails, and should before the work
    return matching


def _fast_align(options: AlignerOptions, more: Sequence[Pairs], progress: Progress) -> FastAligner:
    how: Any = options.symmetrise
    if how is not None and how not in SYMMETRISATIONS:
        raise ValueError(f"--symmetrise must be one of {', '.join(SYMMETRISATIONS)}, got {how!r}")
    return FastAligner(
        FastAlign(),
        more=[(source.words, target.words) for pairs in more for source, target in pairs],
        progress=progress,
        **({} if how is None else {"symmetrisation": how}),
    )


def training_pairs(
    said: Sequence[str], pretokenized: bool, data: Path | None, option: str = "--train"
) -> Iterator[Pairs]:
    """The pairs of each file or corpus that an option names; of a corpus without a split, all splits."""
    for one in said:
        name, _, split = one.partition(":")
        if name in CORPORA:
            for each in (split,) if split else CORPORA[name].files:
                yield pairs_of([name], None, pretokenized, each, data)
        elif one == STDIN or not Path(one).exists():
            raise ValueError(f"{option} must be a file or one of {', '.join(CORPORA)}, got {one!r}")
        else:
            yield pairs_of([one], None, pretokenized, "", data)
