"""Augmentation: edited copies of training pairs whose targets are carried along with the edit.

Gold corpora hardly ever exchange words, misspell them or pair unrelated sentences, so a model trained on them
alone learns that position decides. Each edit here changes the words and the targets (gold links and teacher
probabilities alike) together, so that the copy is annotated as well as the original pair.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from otalign.training import edits
from otalign.training.examples import Example
from otalign.training.exchanges import Draw, exchange_spans
from otalign.training.word_groups import WordGroups

Edit = Callable[[Example, random.Random, Draw], Example | None]

EDITS: dict[str, Edit] = {
    "exchange": exchange_spans,
    "typos": edits.misspell_words,
    "unrelated": edits.replace_target,
    "join": edits.join_pairs,
    "repeat": edits.repeat_clause,
    "delete": edits.delete_span,
    "insert": edits.insert_span,
    "single": edits.pair_single_words,
    "identity": edits.pair_with_itself,
}
COPIES = (*EDITS, "swap", "synonyms")  # kinds that add copies
KINDS = (*COPIES, "case")


@dataclass(frozen=True, kw_only=True)
class Augmentation:
    """Shares of augmented copies of each kind in an epoch, relative to its pairs; 0 turns a kind off.

    A share of 0.1 adds one edited copy for every ten pairs; the pairs themselves are always read unchanged.

    Attributes:
        exchange: Spans of one sentence are exchanged: list items, two phrases, or the beginning and the rest.
        swap: Two words of one sentence are swapped, half of the time words of the same kind (`siblings`).
        typos: One word, about a third, or all longer words of one sentence are misspelled.
        unrelated: A sentence is paired with one of another pair; nothing corresponds.
        join: Two to five pairs become one, half of the time in another order on the target side.
        repeat: A clause is repeated with some words replaced on both sides, in the same or the opposite
            order.
        delete: A span of one sentence is removed; its counterparts lose their links.
        insert: A span of another sentence is inserted; it has no links.
        single: One word with its counterpart, or with a word of another pair, which has no link.
        identity: A sentence with itself, half of the time with spans exchanged.
        synonyms: Up to three words of a sentence are replaced by synonyms; their links stay.
        case: Share of all examples, not copies, whose case is changed (lower, upper, title, capital).
        lexicon: The synonyms; without them there are no such copies.
        siblings: Words of the same kind, such as spoon and fork, to be swapped; without them only the words
            of the sentence itself are.

    Raises:
        ValueError: If a share is not from 0 to 1.

    Example:
        >>> Augmentation(typos=0.5).copies["typos"]
        0.5
    """

    exchange: float = 0.25
    swap: float = 0.1
    typos: float = 0.15
    unrelated: float = 0.06
    join: float = 0.08
    repeat: float = 0.05
    delete: float = 0.05
    insert: float = 0.04
    single: float = 0.03
    identity: float = 0.06
    synonyms: float = 0.15
    case: float = 0.2
    lexicon: WordGroups | None = None
    siblings: WordGroups | None = None

    def __post_init__(self) -> None:
        for name, share in self.to_dict().items():
            if not 0 <= share <= 1:
                raise ValueError(f"the augmentation share of {name} must be from 0 to 1, got {share}")

    @property
    def copies(self) -> dict[str, float]:
        """Share of each kind that adds copies."""
        shares = {name: getattr(self, name) for name in COPIES}
        return shares if self.lexicon else shares | {"synonyms": 0.0}

    def get_edit(self, kind: str) -> Edit:
        """Return the edit of a kind that adds copies.

        Args:
            kind: One of `COPIES`.
        """
        if kind == "swap":
            return partial(edits.swap_words, self.siblings)
        if kind == "synonyms":
            assert self.lexicon is not None  # else no copy of the kind is made
            return partial(edits.replace_words, self.lexicon)
        return EDITS[kind]

    def to_dict(self) -> dict[str, float]:
        """Return the shares by kind."""
        return {name: getattr(self, name) for name in KINDS}


NO_AUGMENTATION = Augmentation(**dict.fromkeys(KINDS, 0.0))  # pyright: ignore[reportArgumentType]


def augment(
    example: Example,
    kind: str | None,
    random: random.Random,
    draw: Draw,
    augmentation: Augmentation = Augmentation(),  # noqa: B008 (frozen)
) -> Example:
    """Make an edited copy of an example.

    Args:
        example: A pair with words on both sides.
        kind: The edit, one of `COPIES`; None leaves the pair unchanged.
        random: Source of random numbers.
        draw: Function that returns another training pair.
        augmentation: The synonyms, and the share of examples whose case is changed too.

    Returns:
        The copy, or the example itself if the edit does not apply to it, since there is nothing to exchange.
    """
    if kind is not None:
        turned = random.random() < 0.5  # edits change the target sentence, or by this the source
        edited = augmentation.get_edit(kind)(example.transpose() if turned else example, random, draw)
        if edited is not None:
            example = edited.transpose() if turned else edited
    if random.random() < augmentation.case:
        example = edits.change_case(example, random)
    return example
