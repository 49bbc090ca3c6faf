"""Sentence vectors: weighted sums of the vectors of words, each sentence encoded alone.

They have two parts, word embeddings and the spelling of words. Embeddings are centred and whitened, as in an
aligner; spelling keeps sentences with the same words together that an encoder trained on pairs moves apart.
Frequent words have less weight: a / (a + share of all words), with a = 0.001. Vectors are sums and not means,
so that the vector of two sentences is the sum of theirs.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from otalign.encoders import Embeddings, Encoder
from otalign.encoders.embeddings import to_numpy
from otalign.encoders.whitening import Centre
from otalign.progress import Progress, no_progress
from otalign.text.spelling import embed_spelling
from otalign.text.words import Sentence, tokenize

WHITENING = 0.5
HALF_WEIGHT_SHARE = 1e-3  # share of all words at which a word has half the weight
PRIOR_WORDS = 1000  # added to the number of words: in a short text, two occurrences are not frequent
CHUNK = 512  # sentences in memory at once, and between reports of progress
# Length of the part for spelling, relative to that of the embeddings. Chosen like MIN_COSINE in `matching`:
# at 0, 0.5 and 1 the F1 of the matches has a mean of 90.9, 91.9 and 90.8.
SPELLING = 0.5

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


def sentence_vectors(
    sentences: Sequence[str], encoder: Encoder, progress: Progress = no_progress
) -> np.ndarray:
    """Return a vector for each sentence, (n, D).

    Args:
        sentences: The sentences.
        encoder: Encoder of their words.
        progress: Function that is called with a description, the amount done, and the total.
    """
    tokenized = [tokenize(text) for text in (*sentences, *BACKGROUND)]
    weights = _compute_weights(tokenized)
    sums: list[np.ndarray] = []
    masses: list[float] = []

    def encode_chunks() -> Iterator[Embeddings]:
        for start in range(0, len(tokenized), CHUNK):
            progress("matching sentences", min(start, len(sentences)), len(sentences))
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
    parts = [vectors, _sum_spelling_vectors(tokenized, weights)]
    embedded, spelled = (part[: len(sentences)] / _compute_mean_norm(part) for part in parts)
    return np.concatenate([embedded, SPELLING * spelled], axis=1).astype(np.float32)


def _sum_spelling_vectors(sentences: Sequence[Sentence], weights: dict[str, float]) -> np.ndarray:
    """Return the weighted sums of the centred spelling vectors of words, (sentences, SIZE)."""
    words = sorted(weights)
    spelling = dict(zip(words, embed_spelling(words), strict=True))
    mean = np.mean([spelling[word.casefold()] for of in sentences for word in of.words], axis=0)
    sums = np.zeros((len(sentences), len(mean)))
    for k, sentence in enumerate(sentences):
        for word in map(str.casefold, sentence.words):
            sums[k] += weights[word] * (spelling[word] - mean)
    return sums


def _compute_mean_norm(vectors: np.ndarray) -> float:
    """Return the square root of the mean squared norm of vectors."""
    return float(np.sqrt(np.mean(np.sum(vectors * vectors, axis=1)))) or 1.0


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
