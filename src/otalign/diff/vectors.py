"""Sentences as vectors: the sum of their words' embeddings, each sentence read alone.

Embeddings are centred and whitened, as an aligner's are, and a word counts the less the more often it is met:
a / (a + its share of all words), with a = 0.001.

Sums, and not means: then the vector of two sentences together is the sum of theirs.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from otalign.encoders import Embeddings, Encoder
from otalign.encoders.embeddings import to_numpy
from otalign.encoders.whitening import Centre
from otalign.text.words import Sentence, tokenize

WHITENING = 0.5
COMMON = 1e-3  # the share of all words at which a word counts half
SEEN = 1000  # words counted as if seen before, all different: in a short text, twice is not often
CHUNK = 512  # sentences whose words are held at once

# Of a handful of sentences the mean is that of their topic, and around it they would all be strangers. So
# these are read too: plain sentences of many kinds.
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
    """A vector for each sentence, (n, D)."""
    read = [tokenize(text) for text in (*sentences, *BACKGROUND)]
    weights = _weights(read)
    sums: list[np.ndarray] = []
    masses: list[float] = []

    def parts() -> Iterator[Embeddings]:
        for start in range(0, len(read), CHUNK):
            chunk = read[start : start + CHUNK]
            embeddings = _each_alone(chunk, encoder)
            for k, sentence in enumerate(chunk):
                counts = np.array([weights[word.casefold()] for word in sentence.words], dtype=np.float32)
                sums.append(counts @ to_numpy(embeddings[k]) if len(counts) else np.zeros(1))
                masses.append(float(counts.sum()))
            yield embeddings

    centre = Centre.fit(parts(), WHITENING)
    size = len(centre.mean)
    made = np.stack([np.broadcast_to(one, size) for one in sums]) - np.outer(masses, centre.mean)
    return (made if centre.stretch is None else made @ centre.stretch)[: len(sentences)].astype(np.float32)


def _weights(sentences: Sequence[Sentence]) -> dict[str, float]:
    counts = Counter(word.casefold() for sentence in sentences for word in sentence.words)
    total = counts.total() + SEEN
    return {word: COMMON / (COMMON + count / total) for word, count in counts.items()}


def _each_alone(sentences: Sequence[Sentence], encoder: Encoder) -> Embeddings:
    """An encoder takes pairs; read separately, any two may be one."""
    padded = [*sentences, *[Sentence("", ())] * (len(sentences) % 2)]
    return encoder.embed(list(zip(padded[::2], padded[1::2], strict=True)), "separate")


def cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Those of the vectors (n, D) with the vectors (m, D): (n, m). A vector of zeros has a cosine of 0."""
    return _unit(first) @ _unit(second).T


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
