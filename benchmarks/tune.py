"""Measure the time to tune on MTRef's 800 dev pairs, once embedded: python benchmarks/tune.py ENCODER

First the full grid of a problem: 50 values of tau or fraction × 101 thresholds, with one distortion, for both
levels of the gold. Then the search of `otalign tune`, with distortions. ENCODER is a folder or a name, at
layer 4 or that of the second argument; the corpus is in the folder OTALIGN_DATA.
"""

import sys
import time
from collections.abc import Mapping

from otalign import Balanced, Partial, Settings, Unbalanced, encoders
from otalign.encoders import Embeddings
from otalign.io import load
from otalign.text.words import join_words
from otalign.tuning import EncoderChoice, SearchGrid, tune


def main() -> None:
    golds = load("mtref", "dev")
    encoder = encoders.load(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 4)
    base = Settings(encoder=encoder.name, layer=encoder.layer)
    start = time.perf_counter()
    pairs = [(join_words(gold.source), join_words(gold.target)) for gold in golds]
    embeddings: Mapping[EncoderChoice, Embeddings] = {
        EncoderChoice(encoder.layer, base.pairing): encoder.embed(pairs, base.pairing)
    }
    print(f"{len(golds)} pairs, {encoder.name}, layer {encoder.layer}; embedded in {_format_time(start)}")
    for problem in (None, Balanced(), Partial(1.0), Unbalanced(1.0)):
        name = type(problem).__name__ if problem else "no problem"
        for what, grid in (("full grid", SearchGrid(distortions=())), ("search", SearchGrid())):
            start = time.perf_counter()
            found = tune(golds, embeddings, base.replace(problem=problem), grid, ["sure", "possible"])
            seconds = _format_time(start)
            best = ", ".join(f"{level} {100 * tuned.f1:.1f}" for level, tuned in found.items())
            print(f"{name:12}{what:11}{len(found['sure'].rows):5} solves{seconds:>10}   dev F1 {best}")


def _format_time(start: float) -> str:
    return f"{time.perf_counter() - start:.1f} s"


if __name__ == "__main__":
    main()
