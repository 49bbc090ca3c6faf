"""The semantic difference between two versions of a text: sentences are matched first, then words.

text ─▶ sentences ─▶ vectors ─▶ transport ─▶ matches ─▶ the aligner's links ─▶ pieces ─▶ Difference
        sentences    vectors    matching                aligner                fates     difference
"""

from otalign.diff.differing import difference

__all__ = ["difference"]
