"""An aligner with a toy encoder: synonyms have the same vector, all other words have random vectors."""

import hashlib
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, cast

import numpy as np

from otalign import Aligner, Settings
from otalign.encoders import Embeddings, Encoder
from otalign.encoders.subwords import Subwords

HERE = Path(__file__).parent
OLD, NEW = ((HERE / name).read_text(encoding="utf-8") for name in ("old.txt", "new.txt"))

SYNONYMS = (
    ("built", "constructed"),
    ("often", "frequently"),
    ("cheaper", "less"),
    ("was", "cost", "is"),
    ("broke", "smashed"),
    ("died", "passed", "away"),
    ("switches", "switched"),
    ("collected", "raised"),
)
MEANING = {word: synonyms[0] for synonyms in SYNONYMS for word in synonyms}


class ToyEncoder:
    """An encoder with a random vector for each meaning."""

    at_once, words_at_once, int8 = 1, None, False

    def subword_tokenizer(self, sentences: Sequence) -> list[Subwords]:
        """Return each word as one subword, which is known."""
        return [
            Subwords([0] * n, np.arange(n), np.arange(n), np.ones(n))
            for n in (len(sentence.spans) for sentence in sentences)
        ]

    subword_tokenizer.unknown = 1  # pyright: ignore[reportFunctionMemberAccess]

    def embed(self, pairs: Sequence, pairing: str) -> Embeddings:
        sentences = [sentence for pair in pairs for sentence in pair]
        starts = np.array([0, *accumulate(len(sentence.spans) for sentence in sentences)])
        vectors = [vector(word) for sentence in sentences for word in sentence.words]
        return Embeddings(np.stack(vectors) if vectors else np.zeros((0, 64), np.float32), starts)


def vector(word: str) -> np.ndarray:
    word = word.casefold()
    seed = hashlib.sha256(MEANING.get(word, word).encode()).digest()
    return np.random.default_rng(list(seed)).normal(size=64).astype(np.float32)


def make_toy_aligner() -> Aligner:
    return Aligner(cast(Encoder, cast(Any, ToyEncoder())), Settings(encoder="plain", layer=0))
