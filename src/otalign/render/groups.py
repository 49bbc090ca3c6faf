"""Groups of links that are drawn as one: words with the same partners share a bracket.

A phrase of n words that is linked with all of m others is one link between two brackets, not n · m lines.
Words of which only some are linked keep links of their own, so a drawing has exactly the links of its
alignment. `layout.js` has the same function for pages; the tests compare them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple


class LinkGroup(NamedTuple):
    """Source words that are all linked with the same target words."""

    source: tuple[int, ...]
    target: tuple[int, ...]


def group_links(pairs: Iterable[tuple[int, int]]) -> list[LinkGroup]:
    """Group links, in the order of their first words."""
    pairs = sorted(pairs)
    sources = _group_words(pairs)
    targets = _group_words([(j, i) for i, j in pairs])
    return sorted({LinkGroup(sources[i], targets[j]) for i, j in pairs})


def _group_words(pairs: Iterable[tuple[int, int]]) -> Mapping[int, tuple[int, ...]]:
    """Return for each word the words that have the same partners, itself among them."""
    partners: dict[int, list[int]] = {}
    for word, partner in sorted(pairs):
        partners.setdefault(word, []).append(partner)
    alike: dict[tuple[int, ...], list[int]] = {}
    for word, found in partners.items():
        alike.setdefault(tuple(found), []).append(word)
    return {word: tuple(words) for words in alike.values() for word in words}


def split_runs(words: Sequence[int], line_of: Sequence[int]) -> list[tuple[int, ...]]:
    """Split words into runs of neighbours in the same line."""
    runs: list[list[int]] = []
    for word in words:
        if runs and runs[-1][-1] == word - 1 and line_of[word] == line_of[word - 1]:
            runs[-1].append(word)
        else:
            runs.append([word])
    return [tuple(run) for run in runs]
