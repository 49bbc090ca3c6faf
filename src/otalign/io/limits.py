"""Limits on what the readers accept, so that no single line can exhaust the memory."""

from collections.abc import Iterator
from dataclasses import dataclass, fields

from otalign.gold import WordlessLinks
from otalign.io.items import Item, TextPair
from otalign.io.lines import MAX_LINE_BYTES
from otalign.text.words import split, tokenize


@dataclass(frozen=True)
class ReaderLimits:
    """The largest line and the largest sentence that the readers accept; a larger one is a bad line.

    Aligning two sentences of `max_words` words takes about 1 GB of memory, or 0.3 GB with a trained aligner.
    `Aligner.align` and `align_many` have no limits of their own.

    Attributes:
        max_line_bytes: Bytes of a line, after decompression.
        max_words: Words of a sentence.
        max_characters: Characters of a sentence.

    Raises:
        ValueError: If a limit is less than 1.

    Example:
        >>> from otalign.io import ReaderLimits, TextPair
        >>> ReaderLimits(max_words=2).find_excess(TextPair("one two three", "one"))
        ('3 words in the source', 'at most 2 (max_words)')
    """

    max_line_bytes: int = MAX_LINE_BYTES
    max_words: int = 4_000
    max_characters: int = 100_000

    def __post_init__(self) -> None:
        for field in fields(self):
            if getattr(self, field.name) < 1:
                raise ValueError(f"{field.name} must be at least 1, got {getattr(self, field.name)}")

    def find_excess(self, item: Item, pretokenized: bool = False) -> tuple[str, str] | None:
        """Compare the sentences of an item with the limits.

        Args:
            item: The item that was read.
            pretokenized: Whether the words of a text are separated by spaces.

        Returns:
            The actual and the permitted size in words, or None if the item is within the limits.
        """
        for side, words, characters in self._measure(item, pretokenized):
            if characters > self.max_characters:
                actual = f"{characters:,} characters in the {side}"
                return actual, f"at most {self.max_characters:,} (max_characters)"
            if words > self.max_words:
                return f"{words:,} words in the {side}", f"at most {self.max_words:,} (max_words)"
        return None

    def _measure(self, item: Item, pretokenized: bool) -> Iterator[tuple[str, int, int]]:
        if isinstance(item, WordlessLinks):
            return
        for side, content in (("source", item.source), ("target", item.target)):
            if isinstance(item, TextPair):
                # A word has at least one character, so only long texts need to be split.
                divide = split if pretokenized else tokenize
                short = len(content) <= self.max_words or len(content) > self.max_characters
                yield side, 0 if short else len(divide(str(content)).spans), len(content)
            else:
                yield side, len(content), sum(map(len, content))


DEFAULT_LIMITS = ReaderLimits()
