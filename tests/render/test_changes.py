"""Laws of drawings of a difference: both texts can be read from it, whatever they contain."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from otalign.diff import Difference, Passage, Piece, difference
from otalign.render.changes import changes
from otalign.render.changes_page import COLOURS, changes_page
from otalign.render.inline import group_paragraphs, line, summarize
from otalign.text.sentences import document, split_lines
from tests.diff.toy_aligner import NEW, OLD, make_toy_aligner

ALIGNER = make_toy_aligner()
LIGHTHOUSE = difference(OLD, NEW, ALIGNER)
VOID = {"meta", "input"}

odd = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
texts = st.lists(
    st.sampled_from(["We <left>. ", "Rain & snow fell. ", "\x1b[1mNo!\n", "[bold]x[/] "]) | odd
).map("".join)


def drawn(found: Difference, width: int = 80, context: int = 1, **options) -> str:
    console = Console(width=width, highlight=False, color_system=None, legacy_windows=False)
    with console.capture() as captured:
        console.print(changes(found, context, **options))
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
        inside = (text for names, text in self.texts if {"main", "p"} <= {*names} and not out & {*names})
        return "".join("".join(inside).split())


def test_the_drawing_of_the_document_shows_each_kind_of_change():
    text = drawn(LIGHTHOUSE)
    for part in (
        "32 → 32 sentences: 18 same, 9 edited, 1 split into 2, 2 joined into 1, 2 new, 2",
        "~  2 → 2       The lighthouse at Corran Point was [~built → constructed~] in",
        "-  14 →        The old oil tanks were filled with sand.",
        "+  → 28        Bookings open in January.",
        "<  15–18       moved to 19–22",
        ">  15 → 19     Storms were the greatest danger. (moved from 15–18, after “The",
        "harbour[-, and-]{=.=} [=on →",
        "(split)",
        "~> 16 → 20     In the winter of 1894 a wave [~broke → smashed~] the windows of",
        "{1:In the summer}",
        "guests [1:in the summer].",
        "⋯ 1 unchanged",
    ):
        assert part in text
    assert "⋯" not in drawn(LIGHTHOUSE, context=99)
    assert "Since 1970" not in drawn(LIGHTHOUSE, context=0)


def test_a_space_stands_between_what_moved_away_and_what_follows():
    old, new = "In bad weather the boat stays.", "The boat stays in bad weather."
    assert "[1:In bad weather] [=the → The=] boat" in drawn(difference(old, new, ALIGNER))


def test_no_differences_are_reported_on_a_line():
    assert drawn(difference(OLD, OLD, ALIGNER)) == "32 sentences, all the same\n"
    assert drawn(difference("", " ", ALIGNER)) == "no sentences in either text\n"
    assert drawn(difference("One.", "One.", ALIGNER)) == "1 sentence, the same\n"
    assert summarize(difference("One. Two.", "One.", ALIGNER)) == "2 → 1 sentence: 1 same, 1 gone"


@given(texts, texts, st.integers(40, 100))
def test_no_line_is_wider_than_the_terminal_and_none_moves_the_cursor(old, new, width):
    found = difference(split_lines(old), split_lines(new), ALIGNER)
    for columns in (False, True):
        text = drawn(found, width, 9, columns=columns)
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)
        assert all(cell_len(row) <= width for row in text.split("\n"))


@given(texts, texts)
def test_any_texts_make_a_page_that_holds_the_new_text_in_its_order(old, new):
    found = difference(document(old), document(new), ALIGNER)
    page = Page(changes_page(found, old))
    assert page.names.count("script") == 1
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
        '<del class="minor" title="now: On">on</del> <ins class="minor" title="was: on">On</ins>',
        "moved from 15–18, after “The old oil tanks were filled …”</a>",
        '<mark class="moved" title="moved from 15">Storms were the greatest danger.</mark>',
        '<ins class="moved" title="moved, was: in the summer">In the summer</ins>',
    ):
        assert part in text
    assert not re.findall(r"https?:|url\(|@import|src=", text)


def test_long_stretches_without_a_change_are_folded():
    old = "\n\n".join(f"Line {k} is here." for k in range(20))
    text = changes_page(difference(old, old + "\n\nBoats sail.", ALIGNER), "x")
    assert "unchanged</summary>" in text


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_texts_stand_out_from_what_they_stand_on(scheme):
    def luminance(name):
        parts = [int(COLOURS[name][scheme][k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    pairs = [("text", "back"), ("quiet", "back"), ("moved", "back")]
    pairs += [("flag", "back"), ("text", "moved-back")]
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
    assert "He [~gave~] it [~up~].   │ He {~abandoned~} it." in drawn(found, 60, columns=True)
    assert '<del class="reworded" title="now: abandoned">up</del>.' in changes_page(found, "x")


def test_only_the_chosen_kinds_are_drawn():
    text = drawn(LIGHTHOUSE, context=0, only=["new", "split"])
    assert "Bookings open in January." in text
    assert "(split)" in text
    assert "Nobody complained" not in text
    hidden = sum(map(int, re.findall(r"⋯ (\d+) not shown", text)))
    assert hidden + LIGHTHOUSE.counts["new"] + LIGHTHOUSE.counts["split"] == len(LIGHTHOUSE.passages)
    with pytest.raises(ValueError, match=r"kinds must be among minor, edited, .*, got 'same'"):
        changes(LIGHTHOUSE, only=["same"])


def test_versions_are_drawn_side_by_side():
    text = drawn(LIGHTHOUSE, columns=True)
    for row in (
        "               was [~built~] in 1871.          │ was {~constructed~} in 1871.",
        "-  14 →        The old oil tanks were filled   │",
        "+  → 28                                        │ Bookings open in January.",
    ):
        assert row in text


def test_changes_of_the_meaning_are_flagged():
    found = difference("The cat sat for 3 days.", "The cat never sat for 4 days.", ALIGNER)
    text = drawn(found)
    assert "negation differs in 1" in text
    assert "~! 1 → 1" in text
    assert "{+never+}(!negation)" in text
    page = changes_page(found, "x")
    assert '<ins title="added">never</ins><small class="flag only-new"' in page
    assert '<li data-kinds="edited ' in page


documents = st.lists(
    st.lists(st.sampled_from(["Rain fell.", "Two boats sank.", "We left.", "No!"]), min_size=1)
)
documents = documents.map(lambda paragraphs: "\n\n".join(map(" ".join, paragraphs)))


@given(documents, documents)
def test_new_sentences_stay_in_their_paragraphs(old, new):
    found = difference(old, new, ALIGNER)
    paragraphs = group_paragraphs(found)
    assert [place for places in paragraphs for place in places] == list(found.places)
    new_sentences = [
        [sentence for k, left in places if not left for sentence in found.passages[k].new]
        for places in paragraphs
    ]
    assume(not found.counts["split"] and not found.counts["joined"])  # they may join paragraphs
    assert {sentences[0] for sentences in new_sentences if sentences} == found.new.paragraph_starts


def test_context_must_not_be_negative():
    with pytest.raises(ValueError, match="context must be a number of passages, 0 or more, got -1"):
        changes(LIGHTHOUSE, -1)


def test_the_page_may_fetch_nothing():
    page = changes_page(LIGHTHOUSE, "title")
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">', page)
    assert policy
    assert policy[1] == "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
    assert page.index("Content-Security-Policy") < page.index("<style>")
