"""The interface of scorers: a batch of word vectors in, scores of links and nulls out."""

from typing import NamedTuple, Protocol, Self

from otalign.arrays import Array
from otalign.scoring.batches import BatchBudget, PairBatch, PairRows
from otalign.scoring.heads.tiles import TileCells
from otalign.text.spelling import WordFeatures


class LinkScores(NamedTuple):
    """Scores of a batch, from 0 to 1; those of links are 0 where there is no word."""

    links: Array  # (B, N, M); of a long pair those of its tiles, (tiles, N, M)
    source_nulls: Array  # (B, N)
    target_nulls: Array  # (B, M)
    converged: Array | None = None  # (B,), if transport problems were solved
    tiles: TileCells | None = None  # of a long pair

    @property
    def matrices(self) -> Array:
        """Scores of links (B, N, M), 0 outside of tiles."""
        return self.links if self.tiles is None else self.tiles.scatter(self.links)


class Scorer(Protocol):
    """Scores links and nulls: `TransportScorer` or `LearnedScorer`."""

    @property
    def budget(self) -> BatchBudget:
        """Size of the batches with which the scorer is fastest."""
        ...

    @property
    def word_features(self) -> WordFeatures | None:
        """Features of words that must follow their vectors, if any."""
        ...

    @property
    def splits_paragraphs(self) -> bool:
        """True if the sentences of long pairs are matched first, and then scored match by match."""
        ...

    def to_device(self, vectors: Array) -> Self:
        """Return the scorer with its arrays in the library, and on the device, of the vectors."""
        ...

    def score(self, batch: PairBatch) -> LinkScores:
        """Score all links and nulls of a batch."""
        ...

    def score_rows(self, rows: PairRows) -> LinkScores:
        """Score all links and nulls of a batch, given as rows of embeddings."""
        ...
