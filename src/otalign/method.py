"""The interface of all methods that align sentence pairs, and the signatures of their results."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

import otalign
from otalign.alignment import Alignment
from otalign.text.words import Text


class Method(Protocol):
    """A method that aligns sentence pairs: `Aligner` or a baseline."""

    @property
    def signature(self) -> str:
        """All settings that are needed to reproduce a result, as `key:value|…`."""
        ...

    def align(self, source: Text, target: Text) -> Alignment:
        """Align one pair.

        Args:
            source: A text, or its words.
            target: A text, or its words.

        Returns:
            The alignment.
        """
        (alignment,) = self.align_many([(source, target)])
        return alignment

    def align_many(self, pairs: Iterable[tuple[Text, Text]]) -> Iterator[Alignment]:
        """Align pairs; the alignments come in their order."""
        ...


def format_signature(fields: Mapping[str, object]) -> str:
    """Format fields and the version of otalign as `key:value|…`."""
    return "|".join(f"{key}:{value}" for key, value in {**fields, "version": otalign.__version__}.items())
