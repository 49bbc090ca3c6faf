"""Sentence boundaries: cases written by hand, and laws for any text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign.text.sentences import document, split_lines

CASES = [  # bars separate sentences
    "He left. | She stayed! | Did he? | Yes…",
    "Dr. Lund paid $3.50. | Mr. and Mrs. Ek, e.g. the parents, did not.",
    "It was 5 p.m. on Monday. | We left at 6 a.m. | The bus came at 7 p.m. Monday.",
    "He lives in the U.S. | The army is large. | The U.S. Army is large.",
    "J. R. Holm wrote it. | So did A. Berg.",
    "It was him and I. | We chose plan B. | The others did not.",
    "See Fig. 3 and pp. 12. | No. 5 is missing. | He said no. | Then he left.",
    "“Why?” he asked. | “Because.” | She left (at last.) | He did not.",
    "Wait... what? | Then... | Nothing. . . . | The end",
    "As shown before.[3] | It holds.¹ | It grew by 2.5 percent in 1990. | 5 of 6 agree.",
    "Visit www.example.org. | Write to a.b@example.org today.",
    "今日は雨です。 | 「はい。」と言った。 | 行く！ | 本当？」 | 終わり",
    "¿Quién es? | ¡Nadie! | هل هذا صحيح؟ | نعم.",
    "यह एक वाक्य है। | यह दूसरा है।",
    "Version 2.0 is out. | Node.js and .NET are not.",
    "- 3 is less than 2, he said. | Wrong!",
    "he left the u.s. army at 5 p.m. sharp . | why ? | nobody knows , e.g. his sister . . .",  # no capitals
    "we met mr. lee at 5 p.m. | they spoke! | see fig. 3. | really? | it costs 3.5 dollars... or so. | bye",
    "“why?” he asked. | nobody knew.",
]


@pytest.mark.parametrize("case", CASES)
def test_sentences_end_where_readers_see_an_end(case):
    wanted = [sentence.strip() for sentence in case.split("|")]
    blank = "" if "。" in case else " "
    assert list(document(blank.join(wanted)).sentences) == wanted


def test_lines_and_paragraphs():
    text = (
        "# Boats\n\nA line goes\non here. Then\r\nit ends.\r\n\r\n1. Open the box.\n2. Close it.\n\nThe end"
    )
    made = document(text)
    assert [" ".join(sentence.split()) for sentence in made.sentences] == [
        *("# Boats", "A line goes on here.", "Then it ends."),
        *("1. Open the box.", "2. Close it.", "The end"),
    ]
    assert made.paragraph_starts == {0, 1, 3, 4, 5}
    assert split_lines(" a b.\n\n c. D.\r\n").sentences == ("a b.", "c. D.")
    assert split_lines("a\nb\nc").paragraph_starts == {0, 1, 2}


@given(st.text(st.characters(codec="utf-8")) | st.text("aA.!?…。 \n\r\"')1-*"))
def test_sentences_are_slices_in_order_and_only_whitespace_is_left_out(text):
    for made in (document(text), split_lines(text)):
        ends = [0, *(end for _, end in made.spans)]
        between = [text[a:b] for a, b in zip(ends, [*(s for s, _ in made.spans), len(text)], strict=True)]
        assert not "".join(between).replace("\ufeff", "").strip()
        assert all(sentence == sentence.strip() != "" for sentence in made.sentences)
        assert made.paragraph_starts <= set(range(len(made)))


@pytest.mark.parametrize("unit", [".", ". ", "A. ", "\n", " ", "x Dr. ", '."', "。", "a.[1] ", "- \n"])
def test_the_time_grows_with_the_length(unit):
    start = time.process_time()
    document(unit * (100_000 // len(unit)))
    assert time.process_time() - start < 5
