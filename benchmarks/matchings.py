"""From vectors to links, beside simalign 0.4 (`pip install simalign==0.4`): python benchmarks/matchings.py

Both get the same vectors, all links are compared, and the time of each is that of one pass over all pairs.
Vectors are drawn, or with `--encoder FOLDER` those of a Hugging Face encoder for the first test pairs of a
corpus (OTALIGN_DATA says where it lies).
"""

import argparse
import importlib
import time
from itertools import pairwise
from typing import Any

import numpy as np

from otalign.baselines.simalign import ArgMax, IterMax, MaximumMatching, SimAlign, similarity
from otalign.io import load

Vectors = list[tuple[np.ndarray, np.ndarray]]
MATCHINGS = (("inter", ArgMax()), ("itermax", IterMax()), ("mwmf", MaximumMatching()))


def peer() -> Any:
    """simalign's aligner."""
    try:
        return importlib.import_module("simalign").SentenceAligner
    except ImportError as error:
        raise SystemExit(f"this runs beside simalign: pip install simalign==0.4 ({error})") from error


def drawn_vectors(count: int) -> Vectors:
    """Sentences that share most of their words, in about the same order, with noise."""
    rng = np.random.default_rng(0)
    vectors = []
    for n, m in rng.integers(5, 41, size=(count, 2)):
        X = rng.normal(size=(n, 384)) + 1
        nearest = (np.arange(m) * n / m + rng.normal(0, 1, m)).astype(int).clip(0, n - 1)
        Y = X[nearest] + rng.normal(0, 1.5, (m, 384))
        vectors.append((X.astype(np.float32), Y.astype(np.float32)))
    return vectors


def encoded_vectors(encoder: str, layer: int, corpus: str, count: int) -> Vectors:
    """Embed as simalign does: each sentence alone, a word as the mean of its subwords."""
    aligner = peer()(model=encoder, token_type="word", layer=layer)
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


class Given:
    """Stands in for simalign's encoder: one piece a word, and the vectors of the pair at hand."""

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


def their_links(vectors: Vectors, method: str, distortion: float) -> list[frozenset]:
    aligner = object.__new__(peer())  # without loading a model
    aligner.token_type, aligner.distortion = "word", distortion
    aligner.matching_methods, aligner.embed_loader = [method], Given()
    links = []
    for X, Y in vectors:
        aligner.embed_loader.vectors = X, Y
        links.append(frozenset(aligner.get_word_aligns(["w"] * len(X), ["w"] * len(Y))[method]))
    return links


def our_links(vectors: Vectors, aligner: SimAlign) -> list[frozenset]:
    return [aligner.links(similarity(X, Y)) for X, Y in vectors]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--encoder", help="a Hugging Face folder; by default vectors are drawn")
    parser.add_argument("--layer", type=int, default=4)
    parser.add_argument("--corpus", default="mtref")
    options = parser.parse_args()
    peer()
    if options.encoder:
        vectors = encoded_vectors(options.encoder, options.layer, options.corpus, options.count)
    else:
        vectors = drawn_vectors(options.count)
    print(f"{'matching':48}{'equal':>10}{'links':>8}{'simalign':>12}{'otalign':>12}{'ratio':>8}")
    for method, matching in MATCHINGS:
        for distortion in (0.0, 0.3):
            times = [time.perf_counter()]
            theirs = their_links(vectors, method, distortion)
            times.append(time.perf_counter())
            ours = our_links(vectors, SimAlign(matching, distortion))
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
