"""fast_align (Dyer, Chahuneau and Smith, NAACL 2013): word alignment learned from the pairs themselves.

    trained = FastAlign().train(pairs)                       # words on both sides, lower-cased
    trained.aligned.symmetrise("grow-diag-final-and")        # links of the training pairs, in order
    trained.align(others).forward                            # links of other pairs

It is IBM Model 2 with a diagonal prior whose tension is fitted, trained by variational Bayes in both
directions, like the tool with `-d -o -v`. Its links equal those of the tool except for near ties, and the
same input always gives the same links.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, overload

import numpy as np

from otalign.alignment import Pairs
from otalign.baselines.cooccurrence import (
    Block,
    CooccurrenceGrid,
    Cooccurrences,
    SentencePair,
    Vocabulary,
    find_cooccurrences,
)
from otalign.baselines.diagonal import HIGHEST, LOWEST, Lengths
from otalign.baselines.model2 import ExpectedCounts, Parameters
from otalign.baselines.symmetrisation import Symmetrisation, symmetrise

Side = Literal["source", "target"]
DirectionName = Literal["forward", "reverse"]


class Step(NamedTuple):
    """Progress of training.

    Attributes:
        direction: Direction that is being trained.
        iteration: Number of the iteration, from 1.
        log_likelihood: Log-likelihood per generated word, in nats, before the iteration's update.
        tension: Tension after it.

    Example:
        >>> from otalign.baselines import FastAlign
        >>> steps = []
        >>> _ = FastAlign(iterations=3).train([(["a", "house"], ["ein", "Haus"])], on_step=steps.append)
        >>> [(step.direction, step.iteration) for step in steps]
        [('forward', 1), ('forward', 2), ('reverse', 1), ('reverse', 2)]
    """

    direction: DirectionName
    iteration: int
    log_likelihood: float
    tension: float


@dataclass(frozen=True)
class FastAlign:
    """Options of fast_align. Like in the tool, the last iteration only aligns and updates no parameters.

    Attributes:
        iterations: Number of iterations.
        null_probability: Prior probability of null.
        alpha: Parameter of the Dirichlet prior on translation tables.
        tension: Initial tension of the diagonal prior.
        fit_tension: Whether the tension is fitted.

    Raises:
        ValueError: If a number is out of its range.

    Example:
        >>> from otalign.baselines import FastAlign
        >>> pairs = [("a house", "ein Haus"), ("a book", "ein Buch"), ("the house", "das Haus")]
        >>> trained = FastAlign().train([(a.split(), b.split()) for a, b in pairs])
        >>> sorted(trained.aligned.symmetrise()[0])
        [(0, 0), (1, 1)]
    """

    iterations: int = 5
    null_probability: float = 0.08
    alpha: float = 0.01
    tension: float = 4.0
    fit_tension: bool = True

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise ValueError(f"iterations must be at least 1, got {self.iterations}; the usual number is 5")
        if not 0 < self.null_probability < 1:
            raise ValueError(f"null_probability must be between 0 and 1, got {self.null_probability}")
        if not 0 < self.alpha < np.inf:
            raise ValueError(
                f"alpha must be positive and finite, got {self.alpha}; "
                "small values prefer few translations per word"
            )
        if not LOWEST <= self.tension <= HIGHEST:
            raise ValueError(
                f"tension must be from {LOWEST} to {HIGHEST}, got {self.tension}; "
                "higher values expect links closer to the diagonal"
            )

    def train(
        self, pairs: Iterable[SentencePair], on_step: Callable[[Step], object] | None = None
    ) -> "TrainedFastAlign":
        """Train both directions.

        Args:
            pairs: Pairs of lists of words. A pair with an empty side is ignored.
            on_step: Function that is called after each iteration.

        Returns:
            The trained model, with the links of the pairs.

        Raises:
            ValueError: If no pair has words on both sides.
            TypeError: If a sentence is a string.
        """
        pairs = _check_pairs(pairs)
        nonempty = [pair for pair in pairs if pair[0] and pair[1]]
        if not nonempty:
            raise ValueError(f"pairs must include one with words on both sides, got {len(pairs)} without")
        source, target = (Vocabulary.from_sentences([pair[side] for pair in nonempty]) for side in (0, 1))
        grid = CooccurrenceGrid.from_pairs(pairs, source, target)
        cooccurrences, cells = find_cooccurrences(grid, _get_stride(target))
        blocks = list(grid.blocks(cells))
        swapped = [block.transpose() for block in blocks]
        start = Parameters.uniform(len(cooccurrences), len(target), self.tension, self.null_probability)
        forward = self._run_em("forward", blocks, cooccurrences.sources, start, on_step)
        start = Parameters.uniform(len(cooccurrences), len(source), self.tension, self.null_probability)
        reverse = self._run_em("reverse", swapped, cooccurrences.targets, start, on_step)
        aligned = _align_grid(grid, cells, forward, reverse)
        return TrainedFastAlign(self, source, target, cooccurrences, forward, reverse, aligned)

    def _run_em(
        self,
        name: DirectionName,
        blocks: list[Block],
        given: np.ndarray,
        parameters: Parameters,
        on_step: Callable[[Step], object] | None,
    ) -> Parameters:
        lengths = Lengths.from_shapes(block.cooccurrences.shape for block in blocks)
        for iteration in range(1, self.iterations):
            counts = ExpectedCounts.compute(blocks, parameters)
            tension = parameters.tension
            if self.fit_tension and iteration > 1:  # the first posterior equals the prior
                tension = lengths.fit_tension(tension, counts.feature / lengths.words)
            table, null = counts.estimate(given, self.alpha)
            parameters = replace(parameters, table=table, null=null, tension=tension)
            if on_step is not None:
                on_step(Step(name, iteration, counts.log_likelihood / lengths.words, tension))
        return parameters


class DirectionalLinks(Sequence[Pairs]):
    """The links of one direction, pair by pair; stored as arrays, converted to sets on access."""

    def __init__(self, chosen: Sequence[np.ndarray], by: Side) -> None:
        self._chosen = chosen  # per pair, for each choosing word the index of the other, or −1
        self._by: Side = by  # side of the choosing words

    def __len__(self) -> int:
        return len(self._chosen)

    @overload
    def __getitem__(self, index: int) -> Pairs: ...
    @overload
    def __getitem__(self, index: slice) -> "DirectionalLinks": ...
    def __getitem__(self, index: int | slice) -> "Pairs | DirectionalLinks":
        if isinstance(index, slice):
            return DirectionalLinks(self._chosen[index], self._by)
        chosen = enumerate(self._chosen[index].tolist())
        if self._by == "target":
            return frozenset((other, k) for k, other in chosen if other >= 0)
        return frozenset((k, other) for k, other in chosen if other >= 0)


class Aligned(NamedTuple):
    """Links in both directions.

    Attributes:
        forward: At most one link for each target word.
        reverse: At most one link for each source word.

    Example:
        >>> from otalign.baselines import FastAlign
        >>> pairs = [("a house", "ein Haus"), ("a book", "ein Buch"), ("the house", "das Haus")]
        >>> aligned = FastAlign().train([(a.split(), b.split()) for a, b in pairs]).aligned
        >>> sorted(aligned.forward[2]), sorted(aligned.symmetrise("union")[2])
        ([(0, 0), (1, 1)], [(0, 0), (1, 1)])
    """

    forward: DirectionalLinks
    reverse: DirectionalLinks

    def symmetrise(self, how: Symmetrisation = "grow-diag-final-and") -> list[Pairs]:
        """Combine the two directions of each pair.

        Args:
            how: How the directions are combined.

        Returns:
            Links (source, target) of each pair.
        """
        return [symmetrise(*links, how) for links in zip(self.forward, self.reverse, strict=True)]


@dataclass(frozen=True, eq=False)
class TrainedFastAlign:
    """A trained fast_align model, and the links of its training pairs.

    Attributes:
        options: Options of training.
        source: Vocabulary of the source.
        target: Vocabulary of the target.
        cooccurrences: Pairs of word types that occurred together.
        forward: Parameters of the direction from source to target.
        reverse: Parameters of the direction from target to source.
        aligned: Links of the training pairs.

    Example:
        >>> from otalign.baselines import FastAlign
        >>> pairs = [("a house", "ein Haus"), ("a book", "ein Buch"), ("the house", "das Haus")]
        >>> trained = FastAlign().train([(a.split(), b.split()) for a, b in pairs])
        >>> sorted(trained.align([(["the", "book"], ["das", "Buch"])]).forward[0])
        [(0, 0), (1, 1)]
    """

    options: FastAlign
    source: Vocabulary
    target: Vocabulary
    cooccurrences: Cooccurrences
    forward: Parameters
    reverse: Parameters
    aligned: Aligned

    def align(self, pairs: Iterable[SentencePair]) -> Aligned:
        """Align any pairs. Words that never co-occurred in training have a probability close to 0.

        Args:
            pairs: Pairs of lists of words.

        Returns:
            Links in both directions.
        """
        pairs = _check_pairs(pairs)
        grid = CooccurrenceGrid.from_pairs(pairs, self.source, self.target)
        pieces = [self.cooccurrences.lookup(keys) for keys in grid.keys(_get_stride(self.target))]
        cells = np.concatenate(pieces) if pieces else np.empty(0, np.int32)
        return _align_grid(grid, cells, self.forward, self.reverse)


def _get_stride(target: Vocabulary) -> int:
    return len(target) + 1  # one more for unknown words


def _align_grid(
    grid: CooccurrenceGrid, cells: np.ndarray, forward: Parameters, reverse: Parameters
) -> Aligned:
    by_target = _choose_links(forward, grid.blocks(cells), grid.size)
    by_source = _choose_links(reverse, (block.transpose() for block in grid.blocks(cells)), grid.size)
    return Aligned(DirectionalLinks(by_target, "target"), DirectionalLinks(by_source, "source"))


def _choose_links(parameters: Parameters, blocks: Iterable[Block], size: int) -> list[np.ndarray]:
    """Return the chosen word of each word, pair by pair; empty for pairs without a block."""
    chosen = [np.empty(0, np.int32)] * size
    for block in blocks:
        for index, row in zip(block.indices, parameters.choose(block).astype(np.int32), strict=True):
            chosen[index] = row
    return chosen


def _check_pairs(pairs: Iterable[SentencePair]) -> list[SentencePair]:
    pairs = list(pairs)
    for k, (source, target) in enumerate(pairs):
        for name, words in (("source", source), ("target", target)):
            if isinstance(words, str):
                raise TypeError(
                    f"the {name} of pair {k} must be a list of words, got the str {words!r}; "
                    "split it at spaces"
                )
    return pairs
