"""Every reader on any bytes: items, or an error with the line, in bounded time and memory."""

import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from otalign.alignment import Alignment, Link
from otalign.gold import Gold, WordlessLinks
from otalign.io import FORMATS, BadLine, Item, TextPair, WordPair, read, write
from otalign.io.items import get_levels, get_words
from tests.alignment_strategies import alignments, golds, links_without_words
from tests.fuzz import SECONDS, share_of_examples
from tests.fuzz.hostile import changed_bytes, fragments
from tests.io.examples import example as example_of
from tests.io.examples import paths_for

each_format = pytest.mark.parametrize("format", FORMATS)


@st.composite
def contents(draw, format: str) -> list[bytes]:
    """Draw hostile contents for each file of a format: its example with changes, or fragments."""
    items = list(enumerate(example_of(format), 1))
    whole = ["".join(text(item, number) for number, item in items).encode() for text in FORMATS[format].write]
    return [draw(fragments | changed_bytes(content)) for content in whole]


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    """Return one folder for all examples; each overwrites the files."""
    return tmp_path_factory.mktemp("fuzzed")


def files(format: str, folder: Path, suffix: str = "") -> tuple[Path, ...]:
    paths = paths_for(format, folder, suffix)
    return paths if isinstance(paths, tuple) else (paths,)


def hostile_files(format: str, data: st.DataObject, folder: Path) -> tuple[Path, ...]:
    paths = files(format, folder)
    for path, content in zip(paths, data.draw(contents(format)), strict=True):
        path.write_bytes(content)
    return paths


def items_or_bad_line(paths: tuple[Path, ...], format: str, skip_bad: bool = False) -> list[Item]:
    """The items of the files up to the first bad line, whose message must say where it is."""
    found: list[Item] = []
    try:
        found.extend(read(paths, format, skip_bad=skip_bad))
    except BadLine as bad:
        message = str(bad)
    else:
        return found
    assert any(message.startswith(f"{path}, line ") for path in paths)
    assert len(message.splitlines()) == 1
    assert len(message) < 1000
    return found


@each_format
@share_of_examples(0.4, SECONDS)
@given(data=st.data())
def test_any_bytes_are_items_or_a_bad_line_that_says_where(format, data, folder):
    paths = hostile_files(format, data, folder)
    for item in (*items_or_bad_line(paths, format), *items_or_bad_line(paths, format, skip_bad=True)):
        if not isinstance(item, WordlessLinks):
            " ".join(
                word for side in get_words(item) for word in side
            ).encode()  # no half of a surrogate pair


@each_format
@share_of_examples(0.4, SECONDS)
@given(data=st.data())
def test_what_is_read_is_refused_by_the_writer_or_read_again_the_same(format, data, folder):
    paths = hostile_files(format, data, folder)
    found = items_or_bad_line(paths, format, skip_bad=True)[:50]
    again = [path.with_suffix(".again") for path in paths]
    for item in found:
        if is_written([item], again, format):
            assert list(read(again, format)) == [item]


def is_written(items: list[Item], paths: Sequence[Path], format: str) -> bool:
    """Write the items, or check that they are refused with the reason."""
    try:
        assert write(items, paths, format) == len(items)
    except ValueError as error:
        refusal = str(error)
    else:
        return True
    assert f"cannot be written as {format}: " in refusal
    return False


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@share_of_examples(1, SECONDS)
@given(data=st.data())
def test_a_damaged_compressed_file_gives_its_lines_and_then_a_bad_one(suffix, data, folder):
    (path,) = files("pharaoh", folder, suffix)
    write([WordlessLinks(frozenset({(0, 0), (1, 1)}))] * data.draw(st.integers(0, 300)), path, "pharaoh")
    path.write_bytes(data.draw(changed_bytes(path.read_bytes()) | fragments))
    for links in items_or_bad_line((path,), "pharaoh"):
        assert isinstance(links, WordlessLinks)


@each_format
@share_of_examples(0.1, SECONDS)
@given(data=st.data())
def test_reading_takes_memory_in_proportion_to_the_file(format, data, folder):
    paths = hostile_files(format, data, folder)
    tracemalloc.start()
    try:
        for _ in read(paths, format, skip_bad=True):
            pass
    except BadLine:
        pass
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 8e6 + 200 * sum(path.stat().st_size for path in paths)


# Whatever a program may pass: spaces and line ends in words, halves of surrogate pairs, empty words.
any_text = st.text(max_size=6) | st.sampled_from(
    ["a b", "\t", "\n", "\r", "\ufeff", "\ud800", "|||", "", "#", "NULL"]
)
any_words = st.lists(any_text, max_size=4).map(tuple)


@st.composite
def any_alignments(draw) -> Alignment:
    source, target = draw(any_words), draw(any_words)
    places = [(i, j) for i in range(len(source)) for j in range(len(target))]
    chosen = draw(st.sets(st.sampled_from(places))) if places else set()
    links = tuple(Link(i, j, draw(st.floats(0, 1))) for i, j in sorted(chosen))
    try:
        return Alignment(source, target, links)
    except ValueError:  # it may refuse such words already
        reject()


any_items = st.one_of(
    any_alignments(),
    alignments(),
    golds(),
    links_without_words,
    st.builds(TextPair, any_text, any_text),
    st.builds(WordPair, any_words, any_words),
)


@each_format
@share_of_examples(0.4, SECONDS)
@given(items=st.lists(any_items, max_size=3))
def test_any_item_is_refused_by_the_writer_or_keeps_its_words_and_links(format, items, folder):
    paths = files(format, folder)
    if is_written(items, paths, format):
        for kept, item in zip(read(paths, format), items, strict=True):
            assert list(differences(kept, item)) == []


def differences(kept: Item, item: Item) -> Iterator[str]:
    """List what was written and not read back."""
    if not isinstance(kept, WordlessLinks) and get_words(kept) != get_words(item):
        yield f"words {get_words(kept)!r} instead of {get_words(item)!r}"
    if isinstance(kept, Alignment | Gold | WordlessLinks) and get_levels(kept) != get_levels(item):
        yield f"links {get_levels(kept)} instead of {get_levels(item)}"
