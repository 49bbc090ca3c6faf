"""Links as arrays are the same links as values, and give the same lines."""

import errno
import gzip
import json
import os
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign.alignment import Link
from otalign.io.writing import OutputFormat
from otalign.link_arrays import LinkArrays, LinkedPairs, PairLinks, add_up
from otalign.shared_arrays import SharedArrays, free_arrays, read_arrays
from otalign.text.words import Sentence, join_words, tokenize

SHARES = st.integers(0, 10_000).map(lambda units: units / 10_000)
FIELDS = st.none() | st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3), max_size=2)
TEXTS = st.text("ab .,\"'\\\u2028\u00e9\u4e2d\U0001f600", max_size=12).map(tokenize)
WORDS = st.lists(st.text('a b"\n\t\u00a0', max_size=3), max_size=4).map(join_words)


@st.composite
def linked_pair(draw) -> tuple[tuple[Sentence, Sentence], PairLinks]:
    pair = draw(TEXTS | WORDS), draw(TEXTS | WORDS)
    n, m = (len(side.spans) for side in pair)
    cells = sorted(draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, m - 1))))) if n and m else []
    links = tuple(Link(i, j, draw(SHARES)) for i, j in cells)
    source, target = (tuple(draw(SHARES) for _ in side.spans) for side in pair)
    return pair, PairLinks(links, (source, target))


def join(found: list[PairLinks]) -> LinkArrays:
    words = add_up(np.array([len(side) for links in found for side in links.null_confidences], int))
    return LinkArrays.join([([k], LinkArrays.from_pair(links)) for k, links in enumerate(found)], words)


@given(st.lists(linked_pair(), max_size=5), st.randoms())
def test_links_come_back_whatever_batches_they_were_in(drawn, random):
    found = [links for _, links in drawn]
    arrays = join(found)
    assert list(arrays) == found == [arrays[k] for k in range(len(found))]
    order = list(range(len(found)))
    random.shuffle(order)
    batch = join([found[k] for k in order])
    assert list(LinkArrays.join([(order, batch)], arrays.word_starts)) == found
    changes = {k: PairLinks(found[k].links[1:], found[k].null_confidences) for k in order[:2]}
    expected = [changes.get(k, links) for k, links in enumerate(found)]
    assert list(arrays.replace(changes)) == expected


def test_a_pair_in_no_batch_has_no_links():
    assert list(LinkArrays.join([], np.array([0, 2, 2]))) == [PairLinks.empty(2, 0)]
    assert list(LinkArrays.join([], np.array([0]))) == []


@pytest.mark.parametrize(
    "form",
    [
        OutputFormat("jsonl"),
        OutputFormat("jsonl.gz"),
        OutputFormat("pharaoh"),
        OutputFormat("pharaoh", weights=True, nulls=True),
        OutputFormat("columns"),
        OutputFormat("columns", weights=True, nulls=True),
    ],
    ids=str,
)
@given(st.lists(st.tuples(linked_pair(), FIELDS), max_size=4))
def test_lines_of_arrays_are_those_of_alignments(form, drawn):
    pairs, found = [pair for (pair, _), _ in drawn], [links for (_, links), _ in drawn]
    fields, linked = [more for _, more in drawn], LinkedPairs(pairs, join(found))
    alignments = [
        alignment.with_fields(more) for alignment, more in zip(linked.make_alignments(), fields, strict=True)
    ]
    expected, written = BytesIO(), BytesIO()
    form.write(alignments, expected)
    form.write_linked_pairs([(linked, fields)], written)
    assert written.getvalue() == expected.getvalue()


def test_a_field_that_cannot_be_written_is_named_by_its_pair():
    pair = tokenize("a"), tokenize("b")
    linked = LinkedPairs([pair], LinkArrays.from_pair(PairLinks.empty(1, 1)))
    chunks = [(linked, [None]), (linked, [{"share": float("nan")}])]
    with pytest.raises(ValueError, match="pair 2 cannot be written as jsonl: Out of range float"):
        OutputFormat("jsonl").write_linked_pairs(chunks, BytesIO())


def test_an_object_without_a_json_form_is_written_as_text():
    linked = LinkedPairs([(tokenize("a"), tokenize("b"))], LinkArrays.from_pair(PairLinks.empty(1, 1)))
    file = BytesIO()
    OutputFormat("jsonl.gz").write_linked_pairs([(linked, [{"when": 1j}])], file)
    assert json.loads(gzip.decompress(file.getvalue()))["when"] == "1j"


def test_too_little_shared_memory_is_an_error_that_names_the_remedy(monkeypatch):
    def refuse(*_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", refuse, raising=False)
    with pytest.raises(OSError, match=r"64 bytes of shared memory .* fewer --workers"):
        SharedArrays([np.zeros(8)])


def test_shared_arrays_are_read_until_they_are_freed():
    arrays = [np.arange(5, dtype=np.int32), np.zeros((0, 3)), np.eye(2) > 0]
    shared = SharedArrays(arrays)
    for array, expected in zip(read_arrays(shared.handle), arrays, strict=True):
        np.testing.assert_array_equal(array, expected)
        assert array.dtype == expected.dtype
    shared.free()
    shared.free()
    free_arrays(shared.handle)
    with pytest.raises(FileNotFoundError):
        read_arrays(shared.handle)
