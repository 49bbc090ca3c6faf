"""Augmentation: laws of the edits, for all pairs and seeds."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign.training import NO_AUGMENTATION, Augmentation, edits, exchanges
from otalign.training.augmentation import COPIES, KINDS, augment
from otalign.training.examples import Example, join_examples, make_identity_example
from otalign.training.word_groups import WordGroups

VOCABULARY = "the a and or , ; . ! apples pears plums dog dogs bit Bought cars of 1,200 é naïve co-op he's"
WORDS = st.sampled_from(VOCABULARY.split())
SYNONYMS = [("bought", "purchased", "got hold of"), ("dog", "hound"), ("apples", "fruit")]
WITH_SYNONYMS = Augmentation(case=0.5, lexicon=WordGroups(SYNONYMS))
SENTENCES = st.lists(WORDS, min_size=1, max_size=12).map(tuple)


@st.composite
def examples(draw) -> Example:
    source, target = draw(SENTENCES), draw(SENTENCES)
    numbers = np.random.default_rng(draw(st.integers(0, 999)))
    targets = numbers.random((2, len(source), len(target))).astype(np.float32) ** 4
    weights = np.array(draw(st.sampled_from([(1, 1), (0, 1), (0.5, 1), (0.8, 0.8)])), dtype=np.float32)
    return Example(source, target, targets, weights)


RANDOM = st.integers(0, 10_000).map(Random)


@given(examples(), st.lists(examples(), min_size=1, max_size=4), RANDOM, st.sampled_from([None, *COPIES]))
def test_an_edited_pair_is_a_pair_with_a_target_for_every_cell(example, others, random, kind):
    before = example.targets.copy()
    made = augment(example, kind, random, lambda: random.choice(others), WITH_SYNONYMS)
    assert made.targets.shape == (2, *made.shape)
    assert made.weights.shape == (2,)
    assert min(made.shape) > 0
    assert all(word and isinstance(word, str) and word == word.strip() for word in made.source + made.target)
    assert made.targets.min() >= 0
    assert made.targets.max() <= 1
    assert made.weights.max() <= max(one.weights.max() for one in (example, *others))
    np.testing.assert_array_equal(example.targets, before)


@given(examples(), RANDOM)
def test_words_that_change_places_take_their_targets_with_them(example, random):
    """Each target word is identified by its column."""
    made = exchanges.exchange_spans(example, random, lambda: example)
    if made is None:
        return
    assert made.source == example.source
    columns = {tuple(example.targets[:, :, j].ravel()): j for j in range(len(example.target))}
    order = [columns[tuple(made.targets[:, :, j].ravel())] for j in range(len(made.target))]
    assert sorted(order) == list(range(len(example.target)))
    assert order != sorted(order)
    assert made.target == tuple(example.target[j] for j in order)
    if example.target[-1] in exchanges.CLOSING:
        assert order[-1] == len(order) - 1


def test_the_items_of_a_list_are_exchanged_around_their_separators():
    words = ("i", "bought", "apples", ",", "pears", ",", "and", "plums", "today", ".")
    example = make_identity_example(words, Example(words, words, np.zeros((2, 0, 0)), np.ones(2)))
    found = set()
    for seed in range(60):
        made = exchanges._permute_items(9, exchanges._find_separators(list(words)), Random(seed))
        found.add(" ".join(example.target[k] for k in made or ()))
    assert "bought" in next(iter(found))
    assert "i bought plums , apples , and pears today" in found
    assert "i bought pears , apples , and plums today" in found


@given(examples(), examples(), RANDOM)
def test_unrelated_sentences_have_no_links_at_any_level(example, other, random):
    made = edits.replace_target(example, random, lambda: other)
    if made is not None:
        assert not made.targets.any()
        assert (made.weights == example.weights.max()).all()
        assert (made.source, made.target) == (example.source, other.target)


@given(examples(), RANDOM)
def test_a_sentence_with_itself_is_linked_word_by_word(example, random):
    made = edits.pair_with_itself(example, random, lambda: example)
    assert made is not None
    assert sorted(made.source) == sorted(made.target)
    for level in made.targets:
        np.testing.assert_array_equal(level.sum(axis=0), 1)
        np.testing.assert_array_equal(level.sum(axis=1), 1)
        for i, j in np.argwhere(level):
            assert made.source[i] == made.target[j]


@given(st.lists(examples(), min_size=1, max_size=4), RANDOM)
def test_joined_pairs_keep_their_targets_and_have_none_between_them(parts, random):
    order = random.sample(range(len(parts)), len(parts))
    made = join_examples(parts, order)
    assert made.source == sum((one.source for one in parts), ())
    assert made.target == sum((parts[k].target for k in order), ())
    np.testing.assert_allclose(made.targets.sum(), sum(one.targets.sum() for one in parts), rtol=1e-5)
    top = 0
    for k, one in enumerate(parts):
        left = sum(len(parts[before].target) for before in order[: order.index(k)])
        n, m = one.shape
        np.testing.assert_array_equal(made.targets[:, top : top + n, left : left + m], one.targets)
        top += n
    np.testing.assert_array_equal(made.weights, np.min([one.weights for one in parts], axis=0))


@given(examples(), examples(), RANDOM)
def test_what_is_deleted_is_gone_and_what_is_inserted_has_no_link(example, other, random):
    deleted = edits.delete_span(example, random, lambda: other)
    if deleted is not None:
        assert 0 < len(deleted.target) < len(example.target)
        assert deleted.targets.sum() <= example.targets.sum() + 1e-5
    inserted = edits.insert_span(example, random, lambda: other)
    if inserted is not None:
        assert len(inserted.target) > len(example.target)
        np.testing.assert_allclose(inserted.targets.sum(), example.targets.sum(), rtol=1e-5)
        new = ~inserted.targets.any(axis=(0, 1))
        assert {inserted.target[j] for j in np.flatnonzero(new)} >= set(inserted.target) - set(example.target)


@given(examples(), examples(), RANDOM)
def test_a_repeated_clause_is_linked_with_its_own_copy_alone(example, other, random):
    made = edits.repeat_clause(example, random, lambda: other)
    if made is None:
        return
    n, m = ((size - 1) // 2 for size in made.shape)
    assert made.shape == (2 * n + 1, 2 * m + 1)
    assert made.source[n] == made.target[m]
    assert (made.targets[:, n, m] == 1).all()
    straight = made.targets[:, :n, :m], made.targets[:, n + 1 :, m + 1 :]
    cross = made.targets[:, :n, m + 1 :], made.targets[:, n + 1 :, :m]
    linked, apart = (straight, cross) if straight[0].any() else (cross, straight)
    np.testing.assert_array_equal(linked[0], linked[1])
    assert not any(one.any() for one in apart)


@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=4, max_size=12), RANDOM)
def test_a_misspelling_is_near_the_word(word, random):
    found = edits.misspell(word, random)
    assert abs(len(found) - len(word)) <= 1
    assert len(set(word) - set(found)) <= 1


@given(examples(), RANDOM)
def test_a_change_of_case_changes_nothing_else(example, random):
    made = edits.change_case(example, random)
    assert [word.casefold() for word in made.source] == [word.casefold() for word in example.source]
    assert made.targets is example.targets


def test_shares_are_from_0_to_1_and_all_can_be_turned_off():
    assert set(KINDS) == {*COPIES, "case"}
    assert not any(NO_AUGMENTATION.to_dict().values())
    for share in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="the augmentation share of typos must be from 0 to 1, got"):
            Augmentation(typos=share)


@given(examples(), RANDOM)
def test_synonyms_take_over_the_targets_of_the_words_that_they_replace(example, random):
    lexicon = WITH_SYNONYMS.lexicon
    made = edits.replace_words(lexicon, example, random, lambda: example)
    if made is None:
        assert not any(lexicon.find(word) for word in example.target)
        return
    assert made.source == example.source
    assert made.target != example.target
    place = 0
    for j, word in enumerate(example.target):
        phrases = [(word,), *lexicon.find(word)]
        (phrase,) = (one for one in phrases if made.target[place : place + len(one)] == one)
        for k in range(len(phrase)):
            np.testing.assert_array_equal(made.targets[:, :, place + k], example.targets[:, :, j])
        place += len(phrase)
    assert place == len(made.target)


def test_without_synonyms_no_copies_are_made_of_them():
    assert Augmentation(synonyms=0.5).copies["synonyms"] == 0
    assert Augmentation(synonyms=0.5, lexicon=WordGroups([("a", "b")])).copies["synonyms"] == 0.5


def test_synonyms_are_read_from_lines_of_words(tmp_path):
    file = tmp_path / "synonyms.tsv"
    file.write_text("quit\tgive up\n3\tthree\n", encoding="utf-8")
    assert WordGroups.read(file).find("three") == (("3",),)
    assert WordGroups.read(file).find("Quit") == (("Give", "up"),)
    assert WordGroups.read(file).find("up") == ()
    assert repr(WordGroups.read(file)) != repr(WordGroups([("3", "three")]))
    file.write_text("quit\nstop\n", encoding="utf-8")
    with pytest.raises(ValueError, match="has no groups of words; each line must be words separated by tabs"):
        WordGroups.read(file)


@given(examples(), RANDOM)
def test_swapped_words_take_their_targets_with_them(example, random):
    siblings = WordGroups([("apples", "pears", "plums"), ("dog", "cat"), ("cars", "buses")])
    made = edits.swap_words(siblings, example, random, lambda: example)
    if made is None:
        return
    columns = {tuple(example.targets[:, :, j].ravel()): j for j in range(len(example.target))}
    order = [columns.get(tuple(made.targets[:, :, j].ravel())) for j in range(len(made.target))]
    moved = [j for j, before in enumerate(order) if before != j]
    assert len(moved) == 2
    replaced = [j for j in moved if order[j] is None]  # by a sibling, on both sides
    for j in replaced:
        (i,) = np.flatnonzero([a != b for a, b in zip(made.source, example.source, strict=True)])
        assert made.source[i] == made.target[j]
        assert (made.targets[:, i, j] == 1).all()
        assert made.target[j] not in (*example.source, *example.target)
    if not replaced:
        assert made.source == example.source
        assert sorted(made.target) == sorted(example.target)


def test_words_are_swapped_for_words_of_the_same_kind():
    words = ("they", "sell", "used", "violins", "and", "modern", "lamps")
    example = make_identity_example(words, Example(words, words, np.zeros((2, 0, 0)), np.ones(2)))
    made = [
        edits.swap_words(WordGroups([("violins", "flutes")]), example, Random(seed), lambda: example)
        for seed in range(60)
    ]
    found = {(" ".join(one.source), " ".join(one.target)) for one in made if one}
    assert ("they sell used violins and modern lamps", "they sell used lamps and modern violins") in found
    assert ("they sell used violins and modern flutes", "they sell used flutes and modern violins") in found
