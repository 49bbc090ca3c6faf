"""Long pairs of several sentences: their groups, and their links beside those of the single sentences."""

import random
from itertools import accumulate

import pytest

from otalign import Aligner, Link
from otalign.alignment import Phrase
from otalign.scoring import PairLinks, batches
from otalign.scoring.extraction import apply_hysteresis
from otalign.scoring.paragraphs import group_sentences, join_groups, make_group_pair
from otalign.text.words import tokenize

OLD = (
    "The council approved the new budget on Monday after a long debate.",
    "Several members had asked for more money for schools and libraries.",
    "Heavy rain closed two roads in the north of the county last night.",
    "Nobody was hurt, but dozens of families had to leave their homes.",
    "A small museum will open next spring in the old railway station.",
    "Its collection includes paintings, letters and early photographs.",
    "Scientists found that the lake is warming faster than expected.",
)
NEW = (
    "On Monday the council passed the new budget after lengthy discussions.",
    "Some members wanted more funds for libraries and schools.",
    "Last night two roads in the north of the county were closed by heavy rain.",
    "No one was injured, but dozens of families were forced to leave their houses.",
    "A little museum is going to open in the former railway station next spring.",
    "Its collection contains letters, paintings and early photos.",
    "Researchers discovered that the lake warms more quickly than expected.",
)
EXCHANGED = (0, 4, 2, 3, 1, 5, 6)


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    return Aligner.load(threads=1)


def starts(texts) -> list[int]:
    return list(accumulate((len(tokenize(text).words) for text in texts), initial=0))


def make_links(order) -> tuple[Link, ...]:
    """Link the first words of each source sentence with the first ones of its target sentence."""
    sources, targets = starts(OLD), starts(NEW[k] for k in order)
    return tuple(Link(sources[k] + i, targets[place] + i) for place, k in enumerate(order) for i in range(5))


def make_pair(order):
    return tokenize(" ".join(OLD)), tokenize(" ".join(NEW[k] for k in order))


def test_sentences_that_share_links_form_a_group_wherever_they_are():
    pair = make_pair(EXCHANGED)
    groups = group_sentences(pair, make_links(EXCHANGED))
    texts = [tuple(side.text for side in make_group_pair(pair, group)) for group in groups]
    assert texts == list(zip(OLD, NEW, strict=True))
    words = [tokenize(text).spans for text in OLD]
    assert [make_group_pair(pair, group)[0].spans for group in groups] == words


def test_a_split_sentence_forms_a_group_and_one_without_links_is_in_none():
    order = range(len(NEW))
    sources, targets = starts(OLD), starts(NEW)
    links = [link for link in make_links(order) if not sources[2] <= link.source < sources[3]]
    links += [Link(sources[0] + 5 + i, targets[1] + 5 + i) for i in range(5)]  # now also in the second one
    groups = group_sentences(make_pair(order), links)
    assert groups[0] == (tuple(range(sources[2])), tuple(range(targets[2])))
    assert len(groups) == 1 + len(OLD) - 3
    assert not any(sources[2] <= i < sources[3] for group in groups for i in group.source)


def test_sentences_of_a_long_text_form_a_group_only_with_half_of_the_links_of_one(monkeypatch):
    order = range(len(NEW))
    links = [*make_links(order), *(Link(5 + i, starts(NEW)[1] + 5 + i) for i in range(2))]  # 2 of 7
    assert len(group_sentences(make_pair(order), links)) == len(OLD) - 1
    monkeypatch.setattr(batches, "LONG", 0)
    assert len(group_sentences(make_pair(order), links)) == len(OLD)


def test_short_pairs_single_sentences_and_sentences_that_all_belong_together_are_not_grouped():
    pair = make_pair(range(len(NEW)))
    short = tokenize(" ".join(OLD[:2])), tokenize(" ".join(NEW[:2]))
    assert not group_sentences(short, [Link(0, 0)])
    assert not group_sentences((pair[0], tokenize(NEW[0])), [Link(0, 0)])
    everything = [Link(i, j) for i in range(len(pair[0].words)) for j in range(len(pair[1].words))]
    assert not group_sentences(pair, everything)


def test_links_of_groups_get_the_places_of_their_words():
    group, part = Phrase((1, 3), (0, 2)), PairLinks((Link(1, 0, 0.9),), ((0.8, 0.1), (0.2, 0.7)))
    whole = PairLinks((Link(0, 1, 0.9),), ((0.5,) * 4, (0.5,) * 3))
    expected = PairLinks((Link(3, 0, 0.9),), ((0.5, 0.8, 0.5, 0.1), (0.2, 0.5, 0.7)))
    assert join_groups(whole, [group], [part]) == expected


@pytest.mark.parametrize("order", [range(len(NEW)), EXCHANGED])
@pytest.mark.parametrize("cased", [True, False])
def test_a_paragraph_has_the_links_of_its_sentences(aligner, order, cased):
    old, new = (texts if cased else [text.lower() for text in texts] for texts in (OLD, NEW))
    old, new = ([" ".join(tokenize(text).words) for text in texts] for texts in (old, new))
    sources, targets = starts(old), dict(zip(order, starts(new[k] for k in order), strict=False))
    expected = {
        (sources[k] + i, targets[k] + j)
        for k, alignment in enumerate(aligner.align_many(zip(old, new, strict=True)))
        for i, j in alignment.pairs
    }
    found = aligner.align(" ".join(old), " ".join(new[k] for k in order)).pairs
    assert len(found & expected) >= 0.95 * len(expected)
    assert len(found & expected) >= 0.95 * len(found)


def test_a_paragraph_has_the_same_links_alone_in_a_batch_and_with_all_scores(aligner):
    pair = make_pair(EXCHANGED)
    alone = aligner.align(*pair)
    others = [*zip(OLD, NEW, strict=True), make_pair(range(len(NEW)))]
    random.Random(1).shuffle(others)
    *_, batched = aligner.align_many([*others, pair])
    assert batched.pairs == alone.pairs
    (chunk,) = aligner.embed([pair])
    (scored,) = aligner.align_with_scores(chunk)
    assert scored.alignment == alone
    scores = apply_hysteresis(scored.scores[None], aligner.settings.hysteresis)[0]
    assert {*zip(*(scores > aligner.settings.threshold).nonzero(), strict=True)} == alone.pairs
    assert scored.scores.shape == alone.shape


def test_a_long_text_of_repeated_phrases_is_linked_with_itself_word_by_word(aligner):
    halves = [(text.split()[:5], text.split()[5:]) for text in OLD[:5]]
    sentences = [" ".join(first + last) for first, _ in halves for _, last in halves]
    words = tokenize(" ".join(sentences)).words
    assert aligner.align(words, words).pairs == {(k, k) for k in range(len(words))}


def test_identical_sentences_form_a_group_without_links_wherever_they_are_and_in_any_case():
    order = [3, 6, 0, 5, 2, 1, 4]
    pair = tokenize(" ".join(OLD)), tokenize(" ".join(OLD[k] for k in order).upper())
    texts = [tuple(side.text for side in make_group_pair(pair, group)) for group in group_sentences(pair, [])]
    assert texts == [(text, text.upper()) for text in OLD]


@pytest.mark.parametrize("change", [str, str.lower, str.upper])
def test_a_long_text_whose_sentences_were_shuffled_is_linked_word_by_word(aligner, change):
    sentences = [text for pair in zip(OLD, NEW, strict=True) for text in pair]
    sentences += [f"Perhaps {text[0].lower()}{text[1:]}" for text in sentences]
    order = random.Random(7).sample(range(len(sentences)), len(sentences))
    sources, targets = starts(sentences), starts(sentences[k] for k in order)
    expected = {
        (sources[k] + i, targets[place] + i)
        for place, k in enumerate(order)
        for i in range(sources[k + 1] - sources[k])
    }
    assert aligner.align(" ".join(sentences), change(" ".join(sentences[k] for k in order))).pairs == expected


def test_repeated_sentences_in_another_order_have_the_same_links_from_either_side(aligner):
    draw = random.Random(2)
    for count in (8, 10, 12):
        one = draw.choices(OLD, k=count)
        other = [text.lower() for text in draw.sample(one, count)]
        there = aligner.align(" ".join(one), " ".join(other))
        assert aligner.align(" ".join(other), " ".join(one)).transpose().pairs == there.pairs
