"""Letters of other widths and fonts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign.text.letters import make_plain
from otalign.text.spelling import embed_spelling


@given(st.text())
def test_the_length_stays_and_a_second_time_changes_nothing(text):
    plain = make_plain(text)
    assert len(plain) == len(text)
    assert make_plain(plain) == plain
    assert all(a == b or b.isascii() for a, b in zip(text, plain, strict=True))


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Ｆｕｌｌ　ｗｉｄｔｈ１２", "Full　width12"),
        ("𝐛𝐨𝐥𝐝 𝑖𝑡𝑎𝑙𝑖𝑐 𝒮𝒸𝓇𝒾𝓅𝓉 ℝ 𝟜𝟚", "bold italic Script R 42"),
        ("Congreſs Ⅴ", "Congress V"),
        ("naïve Æsop ﬁne x² CO₂ ① 字か Ж", "naïve Æsop ﬁne x² CO₂ ① 字か Ж"),
    ],
)
def test_width_and_font_are_lost_and_nothing_else(text, plain):
    assert make_plain(text) == plain


def test_the_spelling_of_a_word_does_not_depend_on_its_font():
    one, *others = embed_spelling(["Smoking", "Ｓｍｏｋｉｎｇ", "𝑆𝑚𝑜𝑘𝑖𝑛𝑔"])
    assert all((one == other).all() for other in others)
