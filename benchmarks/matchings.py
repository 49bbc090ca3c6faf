"""Compare matchings with simalign 0.4 (`pip install simalign==0.4`): python benchmarks/matchings.py

Both get the same vectors. All links are compared, and each is timed in one pass over all pairs. Vectors are
random, or with `--encoder FOLDER` those of a Hugging Face encoder for the first test pairs of a corpus in the
folder OTALIGN_DATA.
"""

import argparse
import importlib
import time
from itertools import pairwise
from typing import Any

import numpy as np

from otalign.baselines.simalign import ArgMax, IterMax, MaximumMatching, SimAlign, compute_similarity
from otalign.io import load

Vectors = list[tuple[np.ndarray, np.ndarray]]
MATCHINGS = (("inter", ArgMax()), ("itermax", IterMax()), ("mwmf", MaximumMatching()))


def load_simalign() -> Any:
    """Return the class of simalign's aligner."""
    try:
        return importlib.import_module("simalign").SentenceAligner
    except ImportError as error:
        raise SystemExit(f"this runs beside simalign: pip install simalign==0.4 ({error})") from error


def make_vectors(count: int) -> Vectors:
    """Make vectors of sentences that share most words, in about the same order, with noise."""
    rng = np.random.default_rng(0)
    vectors = []
    for n, m in rng.integers(5, 41, size=(count, 2)):
        X = rng.normal(size=(n, 384)) + 1
        nearest = (np.arange(m) * n / m + rng.normal(0, 1, m)).astype(int).clip(0, n - 1)
        Y = X[nearest] + rng.normal(0, 1.5, (m, 384))
        vectors.append((X.astype(np.float32), Y.astype(np.float32)))
    return vectors


def encode_vectors(encoder: str, layer: int, corpus: str, count: int) -> Vectors:
    """Embed like simalign: each sentence alone, a word as the mean of its subwords."""
    aligner = load_simalign()(model=encoder, token_type="word", layer=layer)
    vectors = []
    for gold in load(corpus, "test")[:count]:
        sentences = [list(gold.source), list(gold.target)]
        pieces = [[aligner.embed_loader.tokenizer.tokenize(word) for word in words] for words in sentences]
        hidden = aligner.embed_loader.get_embed_list(sentences).cpu().detach().numpy()
        lengths = [sum(map(len, words)) for words in pieces]
        sides = [hidden[side, : lengths[side]] for side in (0, 1)]
        X, Y = aligner.average_embeds_over_words(sides, pieces)
        vectors.append((X, Y))
    return vectors


class FixedEncoder:
    """A replacement for simalign's encoder: one subword for each word, and given vectors."""

    def __init__(self):
        self.tokenizer = self
        self.vectors: tuple[np.ndarray, np.ndarray] | None = None

    def tokenize(self, word: str) -> list[str]:
        return [word]

    def get_embed_list(self, sentences: list[list[str]]) -> Any:
        import torch  # simalign needs it, we do not

        assert self.vectors is not None
        sides = [torch.from_numpy(side) for side in self.vectors]
        return torch.nn.utils.rnn.pad_sequence(sides, batch_first=True)


def align_with_simalign(vectors: Vectors, method: str, distortion: float) -> list[frozenset]:
    aligner = object.__new__(load_simalign())  # without loading a model
    aligner.token_type, aligner.distortion = "word", distortion
    aligner.matching_methods, aligner.embed_loader = [method], FixedEncoder()
    links = []
    for X, Y in vectors:
        aligner.embed_loader.vectors = X, Y
        links.append(frozenset(aligner.get_word_aligns(["w"] * len(X), ["w"] * len(Y))[method]))
    return links


def align_with_otalign(vectors: Vectors, aligner: SimAlign) -> list[frozenset]:
    return [aligner.align(compute_similarity(X, Y)) for X, Y in vectors]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--encoder", help="a Hugging Face folder; the default is random vectors")
    parser.add_argument("--layer", type=int, default=4)
    parser.add_argument("--corpus", default="mtref")
    options = parser.parse_args()
    load_simalign()
    if options.encoder:
        vectors = encode_vectors(options.encoder, options.layer, options.corpus, options.count)
    else:
        vectors = make_vectors(options.count)
    print(f"{'matching':48}{'equal':>10}{'links':>8}{'simalign':>12}{'otalign':>12}{'ratio':>8}")
    for method, matching in MATCHINGS:
        for distortion in (0.0, 0.3):
            times = [time.perf_counter()]
            theirs = align_with_simalign(vectors, method, distortion)
            times.append(time.perf_counter())
            ours = align_with_otalign(vectors, SimAlign(matching, distortion))
            times.append(time.perf_counter())
            their_time, our_time = (1000 * (b - a) for a, b in pairwise(times))
            equal = sum(a == b for a, b in zip(theirs, ours, strict=True))
            name = f"{matching}, distortion {distortion}"
            print(
                f"{name:48}{f'{equal}/{len(vectors)}':>10}{sum(map(len, ours)):>8}"
                f"{their_time:>9.0f} ms{our_time:>9.0f} ms{their_time / our_time:>8.1f}"
            )


if __name__ == "__main__":
    main()
