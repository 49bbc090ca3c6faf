"""Sentence vectors: weighted sums of word embeddings, each sentence encoded alone.

Embeddings are centred and whitened, as in an aligner. Frequent words have less weight: a / (a + share of all
words), with a = 0.001. Vectors are sums and not means, so that the vector of two sentences is the sum of
theirs.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from otalign.encoders import Embeddings, Encoder
from otalign.encoders.embeddings import to_numpy
from otalign.encoders.whitening import Centre
from otalign.text.words import Sentence, tokenize

WHITENING = 0.5
HALF_WEIGHT_SHARE = 1e-3  # share of all words at which a word has half the weight
PRIOR_WORDS = 1000  # added to the number of words: in a short text, two occurrences are not frequent
CHUNK = 512  # sentences in memory at once

# The mean of a few sentences is that of their topic, and centring would remove what they share. These plain
# sentences of many kinds are therefore encoded with them.
BACKGROUND = (
    "The committee will meet again on Thursday to decide about the budget.",
    "She opened the window because the room had become too warm.",
    "Most of the students had never seen snow before.",
    "Prices rose by four percent in the second quarter, mainly because of energy.",
    "To restart the device, hold down the button for ten seconds.",
    "He could not remember where he had put his glasses.",
    "Our method needs fewer samples and gives more stable results.",
    "The river floods the lower fields almost every spring.",
    "Please send us your answer by the end of the month.",
    "Three people were hurt when a bus hit a parked truck.",
    "Add the onions and let them cook slowly until they are soft.",
    "The law was passed in 1987 and has been changed twice since.",
    "I have always wanted to learn how to play the violin.",
    "The team lost its first game but won the next five.",
    "Cells of this type divide faster when the temperature is high.",
    "What would you do if nobody were watching?",
    "The old bridge is closed to cars, but you can still walk across it.",
    "This function returns an empty list if no file is found.",
    "Her grandmother told stories about the war that nobody else would tell.",
    "The company plans to open two new shops in the north of the country.",
    "It was already dark when they reached the top of the mountain.",
    "Doctors recommend that adults sleep at least seven hours a night.",
    "The painting was sold to a private collector for an unknown sum.",
    "We thank the reviewers for their careful comments.",
)


def sentence_vectors(sentences: Sequence[str], encoder: Encoder) -> np.ndarray:
    """Return a vector for each sentence, (n, D)."""
    tokenized = [tokenize(text) for text in (*sentences, *BACKGROUND)]
    weights = _compute_weights(tokenized)
    sums: list[np.ndarray] = []
    masses: list[float] = []

    def encode_chunks() -> Iterator[Embeddings]:
        for start in range(0, len(tokenized), CHUNK):
            chunk = tokenized[start : start + CHUNK]
            embeddings = _encode_separately(chunk, encoder)
            for k, sentence in enumerate(chunk):
                counts = np.array([weights[word.casefold()] for word in sentence.words], dtype=np.float32)
                sums.append(counts @ to_numpy(embeddings[k]) if len(counts) else np.zeros(1))
                masses.append(float(counts.sum()))
            yield embeddings

    centre = Centre.fit(encode_chunks(), WHITENING)
    size = len(centre.mean)
    vectors = np.stack([np.broadcast_to(vector, size) for vector in sums]) - np.outer(masses, centre.mean)
    if centre.stretch is not None:
        vectors = vectors @ centre.stretch
    return vectors[: len(sentences)].astype(np.float32)


def _compute_weights(sentences: Sequence[Sentence]) -> dict[str, float]:
    counts = Counter(word.casefold() for sentence in sentences for word in sentence.words)
    total = counts.total() + PRIOR_WORDS
    return {word: HALF_WEIGHT_SHARE / (HALF_WEIGHT_SHARE + count / total) for word, count in counts.items()}


def _encode_separately(sentences: Sequence[Sentence], encoder: Encoder) -> Embeddings:
    """Encode each sentence alone. An encoder takes pairs, so any two sentences form one."""
    padded = [*sentences, *[Sentence("", ())] * (len(sentences) % 2)]
    return encoder.embed(list(zip(padded[::2], padded[1::2], strict=True)), "separate")


def cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the cosines (n, m) of vectors (n, D) and (m, D); those of a zero vector are 0."""
    return _normalize(first) @ _normalize(second).T


def _normalize(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
