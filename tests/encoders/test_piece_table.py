"""Subwords that are looked up are those that the tokenizer gives for the whole text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from otalign.encoders import piece_table
from otalign.encoders.piece_table import PieceTable, divides_at_spaces, encode_texts

LETTERS = "abcdeéÄ \t\u00a0\u0301\u0308中文.,'!-\u200dİσς[]SEP#\u3000\ufeff\x00ﬁ½\U0001f600"
WORDS = ("a", "b", "ab", "e", "sep", ".", ",", "中", "[", "]")
VOCABULARY = ["[UNK]", "[SEP]", *WORDS, "##a", "##b", "##cd", "##e"]
TEXTS = st.lists(st.text(LETTERS, max_size=30) | st.text(max_size=10), max_size=5)


def make_tokenizer(**options: bool) -> Tokenizer:
    words = {word: k for k, word in enumerate(VOCABULARY)}
    tokenizer = Tokenizer(models.WordPiece(words, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(**options)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(["[SEP]"])
    tokenizer.encode_special_tokens = True
    return tokenizer


@pytest.mark.parametrize("options", [{}, {"lowercase": False}, {"strip_accents": False}], ids=str)
@given(st.lists(TEXTS, min_size=1, max_size=3))
def test_subwords_that_are_looked_up_are_those_of_the_whole_text(options, batches):
    tokenizer = make_tokenizer(**options)
    table = PieceTable(tokenizer)
    for texts in batches:
        for found, expected in zip(table.encode(texts), encode_texts(tokenizer, texts), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_the_table_does_not_grow_without_limit(monkeypatch):
    monkeypatch.setattr(piece_table, "MAX_PARTS", 10)
    table = PieceTable(make_tokenizer())
    for k in range(50):
        table.encode([f"a{k} b{k}", "x" * 100])
    assert len(table.parts) <= 12
    assert "x" * 100 not in table.parts


def test_only_tokenizers_that_surely_divide_texts_at_spaces_are_looked_up():
    assert divides_at_spaces(make_tokenizer())
    other = make_tokenizer()
    other.add_tokens(["New York"])
    assert not divides_at_spaces(other)
    other = make_tokenizer()
    other.pre_tokenizer = pre_tokenizers.Metaspace()
    assert not divides_at_spaces(other)
