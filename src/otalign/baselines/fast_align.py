"""fast_align (Dyer, Chahuneau and Smith, NAACL 2013): word alignment learnt from the pairs themselves.

trained = FastAlign().train(pairs)                       # words on both sides, lower-cased
trained.aligned.symmetrised("grow-diag-final-and")       # links of the training pairs, in order
trained.align(others).forward                            # of any pairs

It is IBM Model 2 with a diagonal prior whose tension is fitted, trained by variational Bayes in both
directions, as the tool does with `-d -o -v`. Its links are those of the tool but for near ties, and the same
input always gives the same.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, overload

import numpy as np

from otalign.alignment import Pairs
from otalign.baselines.cooccurrence import (
    Block,
    CooccurrenceGrid,
    Meetings,
    SentencePair,
    Vocabulary,
    meetings_of,
)
from otalign.baselines.diagonal import HIGHEST, LOWEST, Lengths
from otalign.baselines.model2 import ExpectedCounts, Parameters
from otalign.baselines.symmetrisation import Symmetrisation, symmetrise

Side = Literal["source", "target"]
DirectionName = Literal["forward", "reverse"]


class Step(NamedTuple):
    """What an iteration came to: the log-likelihood (nats a generated word) it found, the tension it left."""

    direction: DirectionName
    iteration: int
    log_likelihood: float
    tension: float


@dataclass(frozen=True)
class FastAlign:
    """How to train. As in the tool, the last iteration only aligns, so parameters change one time less."""

    iterations: int = 5
    null_probability: float = 0.08
    alpha: float = 0.01
    tension: float = 4.0
    fit_tension: bool = True

    def __post_init__(self):
        if self.iterations < 1:
            raise ValueError(f"iterations must be at least 1, got {self.iterations}; the usual number is 5")
        if not 0 < self.null_probability < 1:
            raise ValueError(f"null_probability must be between 0 and 1, got {self.null_probability}")
        if not 0 < self.alpha < np.inf:
            raise ValueError(
                f"alpha must be positive and finite, got {self.alpha}; a small one prefers few translations"
            )
        if not LOWEST <= self.tension <= HIGHEST:
            raise ValueError(
                f"tension must be from {LOWEST} to {HIGHEST}, got {self.tension}; "
                "the higher, the nearer to the diagonal links are expected"
            )

    def train(
        self, pairs: Iterable[SentencePair], on_step: Callable[[Step], object] | None = None
    ) -> "TrainedFastAlign":
        """Both directions, learnt from pairs of words. A pair with an empty side teaches nothing."""
        pairs = _check_pairs(pairs)
        whole = [pair for pair in pairs if pair[0] and pair[1]]
        if not whole:
            raise ValueError(f"pairs must hold one with words on both sides, got {len(pairs)} without")
        source, target = (Vocabulary.of([pair[side] for pair in whole]) for side in (0, 1))
        grid = CooccurrenceGrid.of(pairs, source, target)
        meetings, cells = meetings_of(grid, _stride(target))
        blocks = list(grid.blocks(cells))
        swapped = [block.transpose() for block in blocks]
        start = Parameters.uniform(len(meetings), len(target), self.tension, self.null_probability)
        forward = self._run_em("forward", blocks, meetings.sources, start, on_step)
        start = Parameters.uniform(len(meetings), len(source), self.tension, self.null_probability)
        reverse = self._run_em("reverse", swapped, meetings.targets, start, on_step)
        aligned = _align_grid(grid, cells, forward, reverse)
        return TrainedFastAlign(self, source, target, meetings, forward, reverse, aligned)

    def _run_em(
        self,
        name: DirectionName,
        blocks: list[Block],
        given: np.ndarray,
        parameters: Parameters,
        on_step: Callable[[Step], object] | None,
    ) -> Parameters:
        lengths = Lengths.of(block.meetings.shape for block in blocks)
        for iteration in range(1, self.iterations):
            counts = ExpectedCounts.compute_expected(blocks, parameters)
            tension = parameters.tension
            if self.fit_tension and iteration > 1:  # the first posterior is the prior's own
                tension = lengths.fit_tension(tension, counts.feature / lengths.words)
            table, null = counts.probabilities(given, self.alpha)
            parameters = replace(parameters, table=table, null=null, tension=tension)
            if on_step is not None:
                on_step(Step(name, iteration, counts.log_likelihood / lengths.words, tension))
        return parameters


class DirectionalLinks(Sequence[Pairs]):
    """The links of one direction, pair by pair; held as numbers, made into sets when asked for."""

    def __init__(self, chosen: Sequence[np.ndarray], by: Side):
        self._chosen = chosen  # per pair, for each word that chooses the other's place, or −1
        self._by: Side = by  # which words choose

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
            return frozenset((other, place) for place, other in chosen if other >= 0)
        return frozenset((place, other) for place, other in chosen if other >= 0)


class Aligned(NamedTuple):
    """Links in both directions: forward at most one for each target word, in reverse for each source word."""

    forward: DirectionalLinks
    reverse: DirectionalLinks

    def symmetrise(self, how: Symmetrisation = "grow-diag-final-and") -> list[Pairs]:
        return [symmetrise(*links, how) for links in zip(self.forward, self.reverse, strict=True)]


@dataclass(frozen=True, eq=False)
class TrainedFastAlign:
    """What was learnt, and the links of the pairs that it was learnt from."""

    options: FastAlign
    source: Vocabulary
    target: Vocabulary
    meetings: Meetings
    forward: Parameters
    reverse: Parameters
    aligned: Aligned

    def align(self, pairs: Iterable[SentencePair]) -> Aligned:
        """The links of any pairs; words that never met in training have next to no probability."""
        pairs = _check_pairs(pairs)
        grid = CooccurrenceGrid.of(pairs, self.source, self.target)
        pieces = [self.meetings.lookup(keys) for keys in grid.keys(_stride(self.target))]
        cells = np.concatenate(pieces) if pieces else np.empty(0, np.int32)
        return _align_grid(grid, cells, self.forward, self.reverse)


def _stride(target: Vocabulary) -> int:
    return len(target) + 1  # one more for words that are not in it


def _align_grid(
    grid: CooccurrenceGrid, cells: np.ndarray, forward: Parameters, reverse: Parameters
) -> Aligned:
    by_target = _choose_links(forward, grid.blocks(cells), grid.size)
    by_source = _choose_links(reverse, (block.transpose() for block in grid.blocks(cells)), grid.size)
    return Aligned(DirectionalLinks(by_target, "target"), DirectionalLinks(by_source, "source"))


def _choose_links(parameters: Parameters, blocks: Iterable[Block], size: int) -> list[np.ndarray]:
    """The choices of each pair, in order; none for pairs that have no block."""
    chosen = [np.empty(0, np.int32)] * size
    for block in blocks:
        for place, row in zip(block.places, parameters.choices(block).astype(np.int32), strict=True):
            chosen[place] = row
    return chosen


def _check_pairs(pairs: Iterable[SentencePair]) -> list[SentencePair]:
    pairs = list(pairs)
    for k, (source, target) in enumerate(pairs):
        for name, words in (("source", source), ("target", target)):
            if isinstance(words, str):
                raise TypeError(
                    f"the {name} of pair {k} must be words, got the str {words!r}; split it at blanks"
                )
    return pairs
