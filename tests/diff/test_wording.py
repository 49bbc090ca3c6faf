"""Words that differ in form alone, numbers that changed, and negation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign.diff.wording import SpannedWord, differ_in_form, find_flag, is_punctuation
from otalign.text.words import tokenize

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def words(text: str) -> list[SpannedWord]:
    sentence = tokenize(text)
    return [SpannedWord(word, span) for word, span in zip(sentence.words, sentence.spans, strict=True)]


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("Web-site", "website", True),
        ("U.S.", "US", True),
        (", and", "And", True),
        ("`word`", "*word*", True),
        (",", "", True),
        ("-3", "3", False),
        ("2.5", "25", False),
        ("Why?", "Why.", False),
        ("5%", "5", False),
        ("car", "cars", False),
        ("1,000", "1000", True),
        ("n’t", "n't", True),
    ],
)
def test_case_and_punctuation_are_form(old, new, same):
    assert differ_in_form(words(old), words(new)) == same


@pytest.mark.parametrize(
    ("old", "new", "flag"),
    [
        ("eight", "nine", "number"),
        ("eight", "8", None),
        ("1,000", "1000", None),
        ("٣", "3", None),
        ("3.5", "5.3", "number"),
        ("twenty-five", "thirty-five", "number"),
        ("twenty five", "25", None),
        ("one thousand", "1,000", None),
        ("two hundred and five thousand", "205 thousand", None),
        ("two dozen", "24", None),
        ("3 million", "3 billion", "number"),
        ("1.5 million", "1,500,000", None),
        ("fifth", "sixth", "number"),
        ("fifth", "5th", None),
        ("five and six", "5 and 6", None),
        ("1/0", "1/2", "number"),
        ("several", "three", "number"),
        ("one", "a", None),
        ("one", "two", "number"),
        ("1", "", None),
        ("no one", "nobody", None),
        ("not", "", "negation"),
        ("", "never", "negation"),
        ("rained", "did not rain", "negation"),
        ("do n't", "do not", None),
        ("do n’t", "do not", None),
        ("can’t", "can", "negation"),
        ("not", "never", None),
        ("possible", "impossible", "negation"),
        ("unlocked", "locked", "negation"),
        ("come", "income", None),
        ("although nobody ever said so", "", None),
        ("car", "vehicle", None),
    ],
)
def test_changed_numbers_and_negation_are_flagged(old, new, flag):
    assert find_flag(words(old), words(new)) == flag


@given(texts, texts)
def test_a_flag_does_not_depend_on_the_direction(old, new):
    assert find_flag(words(old), words(new)) == find_flag(words(new), words(old))


@given(texts)
def test_the_same_words_have_no_flag_and_the_same_form(text):
    assert find_flag(words(text), words(text)) is None
    assert differ_in_form(words(text), words(text))


@given(texts)
def test_words_with_letters_or_digits_are_not_punctuation(text):
    assert not any(is_punctuation(word.text) for word in words(text) if any(map(str.isalnum, word.text)))
