"""Long pairs of several sentences: groups of sentences that belong together, each aligned as a pair.

The more words there are, the more links are missed. Sentences that are identical, except for case, width and
font of their letters, belong together, wherever they are. For the others, the links that are found when all
words are aligned at once decide: sentences that share a good part of their links form a group. The links of
each group are then found again, among its words only.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice

import numpy as np

from otalign.alignment import Alignment, Link, Phrase
from otalign.link_arrays import LinkArrays, LinkedPairs, PairLinks
from otalign.scoring.batches import is_long
from otalign.text.letters import make_plain
from otalign.text.matching import match_anywhere
from otalign.text.sentences import Document, document
from otalign.text.words import Pair, Sentence

# Paragraphs of the dev sets of MTRef and Edinburgh++, in the same order and aligned at once, have 97% of the
# links of the single pairs if they have fewer words than this, 92% with 140 to 159, and 86% with 160 to 179.
MIN_WORDS = 60
MIN_SHARE = 0.25  # share of a sentence's links; of 0.1, 0.25 and 0.5 it finds most links, by 0.1 and 0.2%
# The same for a long pair, where some of the many sentences are similar. In texts of 3,000 words of dev and
# train sets, of 0.25, 0.35, 0.5 and 0.6 it finds most links, 0.5 and 1.3% more than 0.25.
MIN_SHARE_LONG = 0.5


def realign_long_pairs(
    pairs: Iterable[Pair], links: LinkArrays, find: Callable[[Sequence[Pair]], Iterable[LinkedPairs]]
) -> LinkArrays:
    """Align the groups of sentences of long pairs by themselves.

    Args:
        pairs: The pairs.
        links: Links of all words at once.
        find: Function that finds the links of further pairs, chunk by chunk.

    Returns:
        The links; for long pairs of several sentences, those within the groups.
    """
    many_words = np.diff(links.word_starts).reshape(-1, 2).max(axis=1, initial=0) >= MIN_WORDS
    if not many_words.any():
        return links
    grouped = {
        k: (pair, groups)
        for k, pair in enumerate(pairs)
        if many_words[k] and (groups := group_sentences(pair, links[k].links))
    }
    if not grouped:
        return links
    group_pairs = [make_group_pair(pair, group) for pair, groups in grouped.values() for group in groups]
    parts = chain.from_iterable(linked.links for linked in find(group_pairs))
    return links.replace(
        {k: join_groups(links[k], groups, islice(parts, len(groups))) for k, (_, groups) in grouped.items()}
    )


def group_sentences(pair: Pair, links: Sequence[Link]) -> list[Phrase]:
    """Group the sentences of a long pair.

    Args:
        pair: Source and target.
        links: Links between their words.

    Returns:
        Source and target words of each group. The list is empty if the pair is short, a side is a single
        sentence, or all sentences belong together.
    """
    if max(len(side.spans) for side in pair) < MIN_WORDS:
        return []
    source_text, target_text = texts = [document(side.text) for side in pair]
    if min(map(len, texts)) < 2:
        return []
    source, target = (
        _number_words(side, [start for start, _ in text.spans])
        for side, text in zip(pair, texts, strict=True)
    )
    same = _match_sentences(source_text, target_text)
    matched_targets = set(same.values())
    crossings = [(source[i], target[j]) for i, j, _ in links]
    counts = Counter((a, b) for a, b in crossings if a not in same and b not in matched_targets)
    source_counts = Counter(a for a, _ in counts.elements())
    target_counts = Counter(b for _, b in counts.elements())
    min_share = MIN_SHARE_LONG if is_long(len(source), len(target)) else MIN_SHARE
    similar = [
        Link(a, b)
        for (a, b), count in counts.items()
        if count >= min_share * min(source_counts[a], target_counts[b])
    ]
    matches = [*similar, *(Link(a, b) for a, b in same.items())]
    sentences = Alignment(texts[0].sentences, texts[1].sentences, tuple(matches))
    if len(sentences.phrases) == 1 and not sentences.source_nulls and not sentences.target_nulls:
        return []
    sides = [_list_words(numbers, len(text)) for numbers, text in zip((source, target), texts, strict=True)]
    return [
        Phrase(*(_join_words(words, side) for words, side in zip(sides, phrase, strict=True)))
        for phrase in sentences.phrases
    ]


def make_group_pair(pair: Pair, group: Phrase) -> Pair:
    """Return the words of a group as a separate pair."""
    return _make_part(pair[0], group.source), _make_part(pair[1], group.target)


def join_groups(whole: PairLinks, groups: Sequence[Phrase], parts: Iterable[PairLinks]) -> PairLinks:
    """Join the links of groups; words outside of them have no links.

    Args:
        whole: Links of the pair, whose null confidences are kept for words in no group.
        groups: Source and target words of each group.
        parts: Links of each group.
    """
    links: list[Link] = []
    source, target = map(list, whole.null_confidences)
    for group, part in zip(groups, parts, strict=True):
        links += (Link(group.source[i], group.target[j], weight) for i, j, weight in part.links)
        for side, words, nulls in zip((source, target), group, part.null_confidences, strict=True):
            for word, confidence in zip(words, nulls, strict=True):
                side[word] = confidence
    return PairLinks(tuple(sorted(links)), (tuple(source), tuple(target)))


def _match_sentences(source: Document, target: Document) -> dict[int, int]:
    """Match identical sentences; which one is the source does not matter, even if sentences are repeated."""
    if source.text <= target.text:
        return match_anywhere(source, target, _fold_letters)
    return {i: j for j, i in match_anywhere(target, source, _fold_letters).items()}


def _fold_letters(text: str) -> str:
    return make_plain(text).casefold()


def _number_words(sentence: Sentence, starts: Sequence[int]) -> list[int]:
    """Return, for each word, the number of the sentence it is in, given where sentences start."""
    return [max(bisect_right(starts, start) - 1, 0) for start, _ in sentence.spans]


def _list_words(numbers: Sequence[int], sentences: int) -> list[list[int]]:
    """Return the words of each sentence, given the number of the sentence that each word is in."""
    words: list[list[int]] = [[] for _ in range(sentences)]
    for word, number in enumerate(numbers):
        words[number].append(word)
    return words


def _join_words(words: Sequence[Sequence[int]], sentences: Sequence[int]) -> tuple[int, ...]:
    """Return the words of some sentences, in order."""
    return tuple(word for number in sentences for word in words[number])


def _make_part(sentence: Sentence, words: Sequence[int]) -> Sentence:
    """Return some words as a text: neighbours with what is between them, others with a space between."""
    text, spans = "", []
    for k, word in enumerate(words):
        start, end = sentence.spans[word]
        if k:
            before = words[k - 1]
            text += sentence.text[sentence.spans[before][1] : start] if word == before + 1 else " "
        spans.append((len(text), len(text) + end - start))
        text += sentence.text[start:end]
    return Sentence(text, tuple(spans))
