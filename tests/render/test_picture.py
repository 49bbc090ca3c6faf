"""Laws of figures: they show each link, word and null, and can be written as files."""

import io
import sys
from pathlib import Path

import pytest
from hypothesis import given

from otalign.alignment import Alignment, Link
from otalign.render.canvas import find_fonts
from otalign.render.layout import lay_out
from otalign.render.picture import PER_INCH, WIDTH, figure, write_picture
from tests.contrast import contrast
from tests.fuzz import share_of_examples
from tests.render.alignment_strategies import plain_alignments

pytest.importorskip("matplotlib")

MOVED = Alignment(
    ("My", "old", "friend"), ("friend", "of", "mine"), (Link(0, 1), Link(0, 2, 0.5), Link(2, 0, 0.9))
)


def texts(ax) -> list[str]:
    return [text.get_text() for text in ax.texts]


@share_of_examples(0.4)  # a figure takes its time
@given(plain_alignments())
def test_arcs_have_each_word_each_null_and_each_link(alignment):
    (ax,) = figure(alignment).axes
    nulls = len(alignment.source_nulls) + len(alignment.target_nulls)
    layout = lay_out(alignment, WIDTH * PER_INCH)
    labels = [text for text, _, _ in layout.gutter]
    labels += [str(stroke.number) for stroke in layout.strokes for _ in stroke.labels]
    assert sorted(texts(ax)) == sorted([*alignment.source, *alignment.target, *["∅"] * nulls, *labels])
    curves = sum(len(stroke.curves) + len(stroke.brackets) for stroke in layout.strokes)
    assert len(ax.patches) == curves + nulls


@share_of_examples(0.4)  # a figure takes its time
@given(plain_alignments())
def test_a_matrix_frames_each_link_and_marks_each_null(alignment):
    (ax,) = figure(alignment, "matrix").axes
    framed = {(round(p.get_y() + 0.5), round(p.get_x() + 0.5)) for p in ax.patches if p.get_zorder() == 2}
    assert framed == alignment.pairs
    for labels, words, nulls in (
        (ax.get_yticklabels(), alignment.source, alignment.source_nulls),
        (ax.get_xticklabels(), alignment.target, alignment.target_nulls),
    ):
        labelled = [f"{word} ∅" if k in nulls else word for k, word in enumerate(words)]
        assert [label.get_text() for label in labels] == labelled


def test_the_borders_and_the_faintest_links_of_a_matrix_have_a_contrast_of_three():
    from matplotlib.colors import to_hex

    (ax,) = figure(Alignment(("a", "b"), ("c",), (Link(0, 0, 0.0),)), "matrix").axes
    link, other = sorted(ax.patches, key=lambda square: square.get_facecolor())
    assert contrast(to_hex(link.get_facecolor()), "#ffffff") >= 3
    assert contrast(to_hex(other.get_edgecolor()), "#ffffff") >= 3


@pytest.mark.parametrize("kind", ["arcs", "matrix"])
def test_heavier_links_are_stronger(kind):
    three = Alignment(tuple("abc"), tuple("xyz"), (Link(0, 0), Link(1, 1, 0.2), Link(2, 2, 0.5)))
    (ax,) = three.plot(kind).axes
    if kind == "arcs":
        strength = [patch.get_alpha() for patch in ax.patches if patch.get_alpha()]
    else:
        strength = [1 - sum(patch.get_facecolor()[:3]) / 3 for patch in ax.patches if patch.get_zorder() == 2]
    light, middle, heavy = strength[1], strength[2], strength[0]
    assert light < middle < heavy


@pytest.mark.parametrize("kind", ["arcs", "matrix"])
@pytest.mark.parametrize(("ending", "begins"), [("svg", b"<"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_pictures_are_written_as_their_name_ends_and_the_same_each_time(tmp_path, kind, ending, begins):
    path = tmp_path / f"picture.{ending}"
    write_picture(MOVED, path, kind)
    once = path.read_bytes()
    assert once.startswith(begins)
    write_picture(MOVED, path, kind)
    assert path.read_bytes() == once
    assert [*tmp_path.iterdir()] == [path]


def test_words_are_no_mathematics():
    words = ("$5", "x_1$", "$\\nothing$", "\\alpha", "<b>")
    for kind in ("arcs", "matrix"):
        figure(Alignment(words, words, tuple(Link(k, k) for k in range(5))), kind).savefig(io.BytesIO())


def test_a_figure_is_drawn_into_given_axes():
    from matplotlib.figure import Figure

    page = Figure()
    first, second = page.subplots(1, 2)
    assert MOVED.plot("matrix", ax=first) is page
    assert MOVED.plot(ax=second) is page
    assert first.patches
    assert "old" in texts(second)


def test_what_does_not_fit_into_the_width_breaks_into_lines():
    words = tuple(f"word{k}" for k in range(30))
    long = Alignment(words, words, tuple(Link(k, k) for k in range(30)))
    wide, high = long.plot(width=50).get_size_inches()
    narrow, tall = long.plot().get_size_inches()
    assert wide > 7 > narrow
    assert high < 2 < tall


def test_each_letter_is_taken_from_a_font_that_has_it():
    fonts = find_fonts()
    assert "DejaVu Sans" in fonts
    (ax,) = figure(MOVED).axes
    assert {tuple(text.get_fontfamily()) for text in ax.texts if text.get_text() == "old"} == {tuple(fonts)}


def make_font(family: str, letters: str, path: Path) -> None:
    """Write a font in which each of some letters is a square."""
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    pen = TTGlyphPen(None)
    pen.moveTo((100, 0))
    for corner in ((100, 800), (900, 800), (900, 0)):
        pen.lineTo(corner)
    pen.closePath()
    square, names = pen.glyph(), [".notdef", *(f"letter{k}" for k in range(len(letters)))]
    font = FontBuilder(1000)
    font.setupGlyphOrder(names)
    font.setupCharacterMap({ord(letter): name for letter, name in zip(letters, names[1:], strict=True)})
    font.setupGlyf(dict.fromkeys(names, square))
    font.setupHorizontalMetrics(dict.fromkeys(names, (1000, 100)))
    font.setupHorizontalHeader(ascent=800, descent=-200)
    font.setupNameTable({"familyName": family, "styleName": "Regular"})
    font.setupOS2()
    font.setupPost()
    font.save(path)


@pytest.mark.parametrize("kind", ["arcs", "matrix"])
@pytest.mark.parametrize("family", ["Noto Sans CJK JP", "Hiragino Sans", "Microsoft YaHei"])
def test_letters_of_east_asia_come_from_an_installed_font(family, kind, tmp_path, monkeypatch):
    from matplotlib.font_manager import fontManager

    make_font(family, "彼は眠", tmp_path / "font.ttf")
    monkeypatch.setattr(fontManager, "ttflist", list(fontManager.ttflist))
    fontManager.addfont(tmp_path / "font.ttf")
    mixed = Alignment(("He", "slept"), ("彼は", "眠"), (Link(0, 0), Link(1, 1)))
    write_picture(mixed, tmp_path / "picture.png", kind)  # a letter without a font would be a warning


def test_east_asian_words_stand_upright_below_a_matrix():
    mixed = Alignment(("He", "slept"), ("彼は", "slept", "眠"), (Link(0, 0), Link(1, 1)))
    (ax,) = figure(mixed, "matrix").axes
    labels = {label.get_text(): label.get_rotation() for label in ax.get_xticklabels()}
    assert labels == {"彼\nは": 0, "slept": 90, "眠\n∅": 0}


def test_what_cannot_be_drawn_is_an_error(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="kind must be one of arcs, matrix, got 'pie'"):
        MOVED.plot("pie")
    with pytest.raises(ValueError, match="width must be a positive number of inches, got 0"):
        MOVED.plot(width=0)
    with pytest.raises(ValueError, match=r"a picture's name must end in .svg, .png, .pdf, got x.gif"):
        write_picture(MOVED, Path("x.gif"))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'otalign\[plot\]'"):
        MOVED.plot()
    write_picture(MOVED, tmp_path / "needs-nothing.svg")
