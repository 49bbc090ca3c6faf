"""Laws of drawings of a difference: both texts can be read from it, whatever they contain."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from otalign.diff import difference
from otalign.diff.difference import Difference, Passage, Piece
from otalign.render.changes import changes
from otalign.render.changes_page import COLOURS, changes_page
from otalign.render.inline import line
from otalign.text.sentences import document, split_lines
from tests.diff.toy_aligner import NEW, OLD, make_toy_aligner

ALIGNER = make_toy_aligner()
LIGHTHOUSE = difference(OLD, NEW, ALIGNER)
VOID = {"meta"}

odd = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
texts = st.lists(
    st.sampled_from(["We <left>. ", "Rain & snow fell. ", "\x1b[1mNo!\n", "[bold]x[/] "]) | odd
).map("".join)


def drawn(found: Difference, width: int = 80, context: int = 1) -> str:
    console = Console(width=width, highlight=False, color_system=None, legacy_windows=False)
    with console.capture() as captured:
        console.print(changes(found, context))
    return captured.get()


class Page(HTMLParser):
    """The elements and texts of a page, which must be closed in their order."""

    def __init__(self, text: str):
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.names: list[str] = []
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.texts: list[tuple[tuple[str, ...], str]] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        given = dict(attrs)
        self.ids += [given["id"]] if "id" in given else []
        self.targets += [given["href"]] if "href" in given else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((tuple(self.open), data))

    def words(self, without: str) -> str:
        """The text of the paragraphs without what is in an element, and without notes and blanks."""
        out = {without, "small", "a"}
        inside = (
            text
            for names, text in self.texts
            if "p" in names and "header" not in names and not out & {*names}
        )
        return "".join("".join(inside).split())


def test_the_drawing_of_the_document_shows_each_kind_of_change():
    text = drawn(LIGHTHOUSE)
    for part in (
        "32 → 32 sentences: 18 same, 11 edited, 2 new, 2 gone; 4 moved, 1 split, 1 joined",
        "~  2 → 2       The lighthouse at Corran Point was [~built → constructed~] in",
        "-  14 →        The old oil tanks were filled with sand.",
        "+  → 28        Bookings open in January.",
        "<  15–18       moved to 19–22",
        ">  15 → 19     Storms were the greatest danger.",
        "~> 16 → 20     In the winter of 1894 a wave [~broke → smashed~] the windows of",
        "{1:In the summer}",
        "guests [1:in the summer].",
        "⋯ 1 unchanged",
    ):
        assert part in text
    assert "⋯" not in drawn(LIGHTHOUSE, context=99)
    assert "Since 1970" not in drawn(LIGHTHOUSE, context=0)


def test_nothing_to_tell_is_told_on_a_line():
    assert drawn(difference(OLD, OLD, ALIGNER)) == "32 sentences, all the same\n"
    assert drawn(difference("", " ", ALIGNER)) == "no sentences in either text\n"


@given(texts, texts, st.integers(40, 100))
def test_no_line_is_wider_than_the_terminal_and_none_moves_the_cursor(old, new, width):
    text = drawn(difference(split_lines(old), split_lines(new), ALIGNER), width, 9)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)
    assert all(cell_len(row) <= width for row in text.split("\n"))


@given(texts, texts)
def test_any_texts_make_a_page_that_holds_the_new_text_in_its_order(old, new):
    found = difference(document(old), document(new), ALIGNER)
    page = Page(changes_page(found, old))
    assert "script" not in page.names
    held = page.words(without="del")
    wanted = (line(found.text(piece, "new")) for passage in found for piece in passage.pieces if piece.new)
    assert held == "".join("".join(wanted).split())
    assert {target.removeprefix("#") for target in page.targets} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))


def test_the_page_of_the_document_is_as_its_terminal_drawing():
    text = changes_page(LIGHTHOUSE, "old <1> → new")
    assert "<h1>old &lt;1&gt; → new</h1>" in text
    for part in (
        '<del class="reworded" title="now: constructed">built</del>',
        '<ins class="reworded" title="was: built">constructed</ins>',
        '<del title="removed">The old oil tanks were filled with sand.</del>',
        '<ins title="added">Bookings open in January.</ins>',
        '<mark class="moved" title="moved from 15">Storms were the greatest danger.</mark>',
        '<ins class="moved" title="moved, was: in the summer">In the summer</ins>',
    ):
        assert part in text
    assert not re.findall(r"https?:|url\(|@import|src=", text)


def test_long_stretches_without_a_change_are_folded():
    old = "\n\n".join(f"Line {k} is here." for k in range(20))
    text = changes_page(difference(old, old + "\n\nBoats sail.", ALIGNER), "x")
    assert "<summary>20 unchanged</summary>" in text


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_texts_stand_out_from_what_they_stand_on(scheme):
    def luminance(name):
        parts = [int(COLOURS[name][scheme][k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    pairs = [("text", "back"), ("quiet", "back"), ("moved", "back")]
    pairs += [(fate, f"{fate}-back") for fate in ("removed", "added", "reworded", "moved")]
    for front, back in pairs:
        lighter, darker = sorted((luminance(front), luminance(back)), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, front


def test_a_reworded_phrase_in_parts_names_all_of_it():
    old, new = document("He gave it up."), document("He abandoned it.")
    pieces = (
        Piece("kept", (0, 2), (0, 2)),
        Piece("reworded", (3, 7), (3, 12), 0),
        Piece("kept", (8, 10), (13, 15)),
        Piece("reworded", (11, 13), None, 0),
        Piece("kept", (13, 14), (15, 16)),
    )
    found = Difference(old, new, (Passage((0,), (0,), pieces),))
    assert "He [~gave → abandoned~] it [~up→~]." in drawn(found)
    assert '<del class="reworded" title="now: abandoned">up</del>.' in changes_page(found, "x")


def test_context_must_not_be_negative():
    with pytest.raises(ValueError, match="context must be a number of passages, 0 or more, got -1"):
        changes(LIGHTHOUSE, -1)


def test_the_page_may_run_and_fetch_nothing():
    page = changes_page(LIGHTHOUSE, "title")
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">', page)
    assert policy
    assert policy[1] == "default-src 'none'; style-src 'unsafe-inline'"
    assert page.index("Content-Security-Policy") < page.index("<style>")
