"""Span prediction: its questions, its answers, and that it learns them."""

import numpy as np
import pytest
import torch

from experiments.peers.queries import batch, queries
from experiments.peers.span_prediction import QueryTensors, SpanPrediction, average_directions
from otalign.encoders import load
from otalign.encoders.encoder import INPUTS
from otalign.text.words import join_words

PAIRS = [
    ("he bought a used car", "he purchased a second hand car yesterday"),
    ("", "the hills"),
    ("rain fell", "rain fell on the town"),
]
LINKS = [{(0, 0), (1, 1), (2, 2), (3, 3), (3, 4), (4, 5)}, set(), {(0, 0), (1, 1), (1, 3)}]


@pytest.fixture(scope="module")
def encoder(tiny_model):
    return load(tiny_model("bert"), 3, device="cpu")


def sentences(pairs=PAIRS):
    return [(join_words(one.split()), join_words(other.split())) for one, other in pairs]


def together(asked, pairs=PAIRS, links=LINKS):
    lengths = np.array([[len(one.split()), len(other.split())] for one, other in pairs])
    cells = [np.zeros(shape, dtype=np.float32) for shape in lengths]
    for cell, pairs_linked in zip(cells, links, strict=True):
        for i, j in pairs_linked:
            cell[i, j] = 1
    return batch(asked, lengths, cells, 0)


def test_every_word_is_a_question_where_there_are_words_on_both_sides(encoder):
    asked = list(queries(sentences(), encoder))
    expected = [(0, 0, k) for k in range(5)] + [(0, 1, k) for k in range(7)]
    expected += [(2, 0, k) for k in range(2)] + [(2, 1, k) for k in range(5)]
    assert [(query.pair, query.side, query.word) for query in asked] == expected


def test_the_word_is_marked_and_the_answers_are_where_they_say(encoder):
    show = encoder.subworder.tokenizer.id_to_token
    query = list(queries(sentences(), encoder))[1]
    tokens = [show(k) for k in query.ids]
    expected = "[CLS] he [UNK] bought [UNK] a used car [SEP] he purchased a second hand car yesterday [SEP]"
    assert tokens == expected.split()
    assert [tokens[k] for k in query.starts] == PAIRS[0][1].split()
    assert query.starts.tolist() == query.ends.tolist()
    assert query.types == [0] * 9 + [1] * 8


def test_long_pairs_are_asked_in_windows_that_leave_no_word_out(encoder):
    long = " ".join(["rain fell on the old town"] * 20)
    words = len(long.split())
    asked = list(queries(sentences([(long, long)]), encoder))
    assert max(len(query.ids) for query in asked) <= encoder.limit
    mark = encoder.subworder.unknown
    for word in range(words):
        of_word = [query for query in asked if (query.side, query.word) == (0, word)]
        there = {query.first + k for query in of_word for k in range(len(query.starts))}
        assert there == set(range(words))
        assert all(query.ids.count(mark) == 2 for query in of_word), "the marks are in all of them"


def test_links_are_answers_from_both_sides(encoder):
    made = together(list(queries(sentences(), encoder)))
    assert made.pairs.tolist() == [0, 2]
    answers = {
        (side, word): np.flatnonzero(row).tolist()
        for (_, side, word, _), row in zip(made.places[:12], made.links, strict=False)
    }
    assert answers[0, 3] == [3, 4]
    assert answers[1, 4] == [3]
    assert answers[1, 6] == []


def test_the_best_span_is_the_best_of_all(encoder):
    torch.manual_seed(0)
    head, read = SpanPrediction(16), QueryTensors.of(together(list(queries(sentences(), encoder))), "cpu")
    states = torch.randn(*read.inputs["input_ids"].shape, 16)
    found = head.best_spans(states, read)
    for q, count in enumerate(read.is_word.sum(1).tolist()):
        places = [
            torch.cat([torch.zeros(1, dtype=torch.long), of[q, :count]]) for of in (read.starts, read.ends)
        ]
        bounds = head.bounds(states[q]).detach()
        start, end = (bounds[at, k].softmax(0)[1:] for k, at in enumerate(places))
        best, k, e = max((float(start[k] * end[e]), k, e) for k in range(count) for e in range(k, count))
        expected = torch.zeros(found.shape[1])
        expected[k : e + 1] = best
        torch.testing.assert_close(found[q], expected)


def test_a_pair_is_the_mean_of_both_directions_and_the_surest_of_windows(encoder):
    made = together(list(queries(sentences(), encoder)))
    spans = np.where(made.places[:, 1:2] == 0, 0.8, 0.2) * made.links
    expected = [
        0.5 * np.array([[(i, j) in links for j in range(7)] for i in range(5)])
        for links in (LINKS[0], LINKS[2])
    ]
    np.testing.assert_allclose(average_directions(spans, made), expected)


@pytest.mark.parametrize("at_once", [1, 40, 100])
def test_queries_that_are_too_many_for_memory_are_read_in_parts(encoder, monkeypatch, at_once):
    made, head, sizes = together(list(queries(sentences(), encoder))), SpanPrediction(16), []

    def read(part):
        sizes.append(part.ids.size)
        return torch.from_numpy(part.ids)[:, :, None].float().sin().expand(-1, -1, 16), QueryTensors.of(
            part, "cpu"
        )

    whole = head.weights(made, read)
    assert sizes == [made.ids.size]
    monkeypatch.setattr("experiments.peers.queries.AT_ONCE", at_once)
    np.testing.assert_allclose(head.weights(made, read), whole, atol=1e-6)
    assert sum(sizes[1:]) == made.ids.size
    assert max(sizes[1:]) <= max(at_once, made.ids.shape[1])
    assert whole.any()


def test_it_learns_the_links_that_it_is_given(encoder):
    torch.manual_seed(0)
    made = together(list(queries(sentences(), encoder)))
    read, head = QueryTensors.of(made, "cpu"), SpanPrediction(16)
    net = load(encoder.folder, 3, device="cpu").model
    optimiser = torch.optim.Adam([*net.parameters(), *head.parameters()], lr=3e-3)
    given = {name: read.inputs[name] for name in INPUTS}
    for _ in range(80):
        optimiser.zero_grad()
        head(net(**given).last_hidden_state, read).backward()
        optimiser.step()
    with torch.inference_mode():
        found = average_directions(head.best_spans(net(**given).last_hidden_state, read).numpy(), made)
    for found_in, links in zip(found, (LINKS[0], {(0, 0), (1, 1), (1, 3)}), strict=True):
        assert {(int(i), int(j)) for i, j in np.argwhere(found_in > 0.4)} == links
