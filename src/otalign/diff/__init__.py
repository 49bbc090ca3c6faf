"""The semantic difference between two versions of a text: sentences are matched first, then words.

text ─▶ sentences ─▶ vectors ─▶ transport ─▶ matches ─▶ the aligner's links ─▶ pieces ─▶ Difference
        sentences    vectors    matching                aligner         fates, edits     difference
"""

from otalign.diff.difference import Difference, Passage, Piece
from otalign.diff.differing import difference

__all__ = ["Difference", "Passage", "Piece", "difference"]
