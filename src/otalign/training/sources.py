"""Gold pairs for training and for selection, and checks that run before training starts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from otalign.alignment import LEVELS, Level
from otalign.encoders.transformers import Transformers
from otalign.gold import Gold
from otalign.training.batches import encode_pairs
from otalign.training.recipe import Recipe

CHECKED_PAIRS = 5000  # pairs whose subwords are checked before training
MAX_UNKNOWN = 0.5  # share of unknown subwords; with more, the tokenizer is that of another language


@dataclass(frozen=True)
class CorpusSplits:
    """The train set and the dev set of a corpus.

    Attributes:
        train: Gold pairs to learn from.
        dev: Gold pairs on which epochs and thresholds are chosen.
        extra: More pairs to learn from, annotated like the dev set, whose links are known at both levels.

    Example:
        >>> from otalign import Gold
        >>> golds = [Gold(("he", "ran"), ("he", "ran"), {(0, 0), (1, 1)})]
        >>> CorpusSplits(golds, golds).dev_levels
        ('sure',)
    """

    train: Sequence[Gold]
    dev: Sequence[Gold]
    extra: Sequence[Gold] = ()

    def move_folds(self, held_out: int, folds: int) -> "CorpusSplits":
        """Split the dev set into folds, keep one of them, and learn from the others too.

        Args:
            held_out: Number of the fold that stays the dev set, from 1.
            folds: Number of folds.

        Returns:
            The corpus with one fold as its dev set, and the others among `extra`.
        """
        numbers = [k % folds == held_out - 1 for k in range(len(self.dev))]
        kept = [gold for gold, keep in zip(self.dev, numbers, strict=True) if keep]
        moved = [gold for gold, keep in zip(self.dev, numbers, strict=True) if not keep]
        return CorpusSplits(self.train, kept, [*self.extra, *moved])

    @cached_property
    def unseen_dev(self) -> Sequence[Gold]:
        """Pairs of the dev set that share no sentence with the train set; all pairs if none is left."""
        seen = {
            _fold_case(words) for gold in (*self.train, *self.extra) for words in (gold.source, gold.target)
        }
        unseen = [gold for gold in self.dev if seen.isdisjoint(map(_fold_case, (gold.source, gold.target)))]
        return unseen or self.dev

    @property
    def dev_levels(self) -> tuple[Level, ...]:
        """Levels at which the links of the dev set differ."""
        return LEVELS if any(gold.possible for gold in self.dev) else LEVELS[:1]


def _fold_case(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word.casefold() for word in words)


Sources = Mapping[str, CorpusSplits]  # by the name of the corpus


def parse_trained_corpora(trained: str | None) -> set[str]:
    """Return the corpora that the field `trained` of an aligner's settings names, of all its trainings.

    The level of a training that learned only one is among them.

    Args:
        trained: The field, None for an aligner that was not trained.

    Example:
        >>> sorted(parse_trained_corpora("mtref wiki, seed 1, taught by mpnet-base; mtref sure, seed 2"))
        ['mtref', 'sure', 'wiki']
    """
    return {name for one in (trained or "").split("; ") for name in one.partition(",")[0].split()}


@dataclass(frozen=True, eq=False)
class TrainingPairs:
    """Gold pairs of all corpora.

    Attributes:
        golds: The pairs.
        known: At which levels their links are known, (pairs, levels).
        repeats: How often each pair is read in an epoch, (pairs,).
    """

    golds: list[Gold]
    known: np.ndarray
    repeats: np.ndarray

    @classmethod
    def collect(
        cls, sources: Sources, level: Level | None, *, with_dev: bool = False, balance: float = 0.0
    ) -> "TrainingPairs":
        """Collect the train sets of all corpora.

        Args:
            sources: Corpora by name.
            level: The only level to learn, so that the other counts as unknown; None for both.
            with_dev: Whether to learn from the dev sets too.
            balance: Size that a small corpus gets by repetition, relative to the largest.
        """
        parts = [
            (*source.train, *source.extra, *(source.dev if with_dev else ())) for source in sources.values()
        ]
        known = np.ones((sum(map(len, parts)), len(LEVELS)), dtype=bool)
        start = 0
        for source, part, in_train in zip(sources.values(), parts, find_known_levels(sources), strict=True):
            known[start : start + len(source.train)] = in_train
            start += len(part)
        largest = max(map(len, parts))
        repeats = [max(1, round(balance * largest / len(part))) for part in parts]
        return cls(
            [gold for part in parts for gold in part],
            known & np.array([level in (None, name) for name in LEVELS]),
            np.repeat(repeats, [len(part) for part in parts]),
        )


def find_known_levels(sources: Sources) -> np.ndarray:
    """Find at which levels the links of each train set are known, (corpora, levels).

    A corpus that has possible links in its dev set but none in its train set was annotated there without the
    distinction: all its links are possible, and which are sure is unknown. If that applies to all corpora,
    their links are also taken as sure.
    """
    vague = {
        name: any(gold.possible for gold in source.dev) and not any(gold.possible for gold in source.train)
        for name, source in sources.items()
    }
    if all(vague.values()):
        vague = dict.fromkeys(vague, False)
    return np.array([[not vague[name], True] for name in sources], dtype=bool)


def check_sources(sources: Sources) -> None:
    """Raise ValueError if a corpus has no pairs or no links for training or for selection."""
    if not sources:
        raise ValueError("sources must hold at least one corpus, got none")
    for name, source in sources.items():
        for split, golds in (("train", source.train), ("dev", source.dev)):
            if not golds:
                raise ValueError(f"{name} has an empty {split} set; training needs pairs in both")
            if not any(gold.sure or gold.possible for gold in golds):
                raise ValueError(
                    f"{name}: the {len(golds):,} pairs of the {split} set have no link to learn from"
                )


def check_encoder(encoder: Transformers, golds: Sequence[Gold], recipe: Recipe) -> None:
    """Raise ValueError if an encoder cannot be trained on these pairs.

    It must have as many layers as are mixed, and an embedding for every subword of its tokenizer, which must
    know most of the words.
    """
    if recipe.layers > encoder.layer + 1:
        raise ValueError(
            f"layers must be at most {encoder.layer + 1}, as many as {encoder.name} has, got {recipe.layers}"
        )
    known = encoder.model.get_input_embeddings().num_embeddings
    pairs = [(gold.source, gold.target) for gold in golds[:CHECKED_PAIRS]]
    inputs = encode_pairs(encoder.reader, pairs, "joint")
    subwords = np.array(
        [id for pair_inputs in inputs for item in pair_inputs for id in item.ids], dtype=np.int64
    )
    highest = int(subwords.max(initial=0))
    if highest >= known:
        raise ValueError(
            f"the tokenizer of {encoder.name} has the subword id {highest}, but its encoder has {known:,} "
            "embeddings; do they belong to the same model?"
        )
    unknown = float((subwords == encoder.subword_tokenizer.unknown).mean()) if len(subwords) else 0.0
    if unknown > MAX_UNKNOWN:
        raise ValueError(
            f"the tokenizer of {encoder.name} does not know {unknown:.0%} of the subwords; "
            "was it made for this language?"
        )
