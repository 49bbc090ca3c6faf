"""Span prediction: queries, answers, and training."""

import numpy as np
import pytest
import torch

from experiments.peers.queries import make_batch, make_queries
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


def make_query_batch(queries, pairs=PAIRS, links=LINKS):
    lengths = np.array([[len(one.split()), len(other.split())] for one, other in pairs])
    cells = [np.zeros(shape, dtype=np.float32) for shape in lengths]
    for cell, pairs_linked in zip(cells, links, strict=True):
        for i, j in pairs_linked:
            cell[i, j] = 1
    return make_batch(queries, lengths, cells, 0)


def test_every_word_is_a_question_where_there_are_words_on_both_sides(encoder):
    queries = list(make_queries(sentences(), encoder))
    expected = [(0, 0, k) for k in range(5)] + [(0, 1, k) for k in range(7)]
    expected += [(2, 0, k) for k in range(2)] + [(2, 1, k) for k in range(5)]
    assert [(query.pair, query.side, query.word) for query in queries] == expected


def test_the_word_is_marked_and_the_answers_are_where_they_say(encoder):
    show = encoder.subword_tokenizer.tokenizer.id_to_token
    query = list(make_queries(sentences(), encoder))[1]
    tokens = [show(k) for k in query.ids]
    expected = "[CLS] he [UNK] bought [UNK] a used car [SEP] he purchased a second hand car yesterday [SEP]"
    assert tokens == expected.split()
    assert [tokens[k] for k in query.starts] == PAIRS[0][1].split()
    assert query.starts.tolist() == query.ends.tolist()
    assert query.types == [0] * 9 + [1] * 8


def test_queries_of_long_pairs_are_windows_that_leave_no_word_out(encoder):
    long = " ".join(["rain fell on the old town"] * 20)
    words = len(long.split())
    queries = list(make_queries(sentences([(long, long)]), encoder))
    assert max(len(query.ids) for query in queries) <= encoder.limit
    mark = encoder.subword_tokenizer.unknown
    for word in range(words):
        word_queries = [query for query in queries if (query.side, query.word) == (0, word)]
        seen = {query.first + k for query in word_queries for k in range(len(query.starts))}
        assert seen == set(range(words))
        assert all(query.ids.count(mark) == 2 for query in word_queries), "the marks are in all of them"


def test_links_are_answers_from_both_sides(encoder):
    batch = make_query_batch(list(make_queries(sentences(), encoder)))
    assert batch.pairs.tolist() == [0, 2]
    answers = {
        (side, word): np.flatnonzero(row).tolist()
        for (_, side, word, _), row in zip(batch.positions[:12], batch.links, strict=False)
    }
    assert answers[0, 3] == [3, 4]
    assert answers[1, 4] == [3]
    assert answers[1, 6] == []


def test_the_best_span_is_the_best_of_all(encoder):
    torch.manual_seed(0)
    batch = make_query_batch(list(make_queries(sentences(), encoder)))
    head, tensors = SpanPrediction(16), QueryTensors.from_batch(batch, "cpu")
    states = torch.randn(*tensors.inputs["input_ids"].shape, 16)
    found = head.predict_spans(states, tensors)
    for q, count in enumerate(tensors.is_word.sum(1).tolist()):
        positions = [
            torch.cat([torch.zeros(1, dtype=torch.long), bound[q, :count]])
            for bound in (tensors.starts, tensors.ends)
        ]
        bounds = head.bounds(states[q]).detach()
        start, end = (bounds[at, k].softmax(0)[1:] for k, at in enumerate(positions))
        best, k, e = max((float(start[k] * end[e]), k, e) for k in range(count) for e in range(k, count))
        expected = torch.zeros(found.shape[1])
        expected[k : e + 1] = best
        torch.testing.assert_close(found[q], expected)


def test_a_pair_is_the_mean_of_both_directions_and_the_surest_of_windows(encoder):
    batch = make_query_batch(list(make_queries(sentences(), encoder)))
    spans = np.where(batch.positions[:, 1:2] == 0, 0.8, 0.2) * batch.links
    expected = [
        0.5 * np.array([[(i, j) in links for j in range(7)] for i in range(5)])
        for links in (LINKS[0], LINKS[2])
    ]
    np.testing.assert_allclose(average_directions(spans, batch), expected)


@pytest.mark.parametrize("most", [1, 40, 100])
def test_queries_that_are_too_many_for_memory_are_read_in_parts(encoder, monkeypatch, most):
    batch, head, sizes = make_query_batch(list(make_queries(sentences(), encoder))), SpanPrediction(16), []

    def read(part):
        sizes.append(part.ids.size)
        return torch.from_numpy(part.ids)[:, :, None].float().sin().expand(
            -1, -1, 16
        ), QueryTensors.from_batch(part, "cpu")

    expected = head.score_links(batch, read)
    assert sizes == [batch.ids.size]
    monkeypatch.setattr("experiments.peers.queries.MAX_SUBWORDS", most)
    np.testing.assert_allclose(head.score_links(batch, read), expected, atol=1e-6)
    assert sum(sizes[1:]) == batch.ids.size
    assert max(sizes[1:]) <= max(most, batch.ids.shape[1])
    assert expected.any()


def test_it_learns_the_links_that_it_is_given(encoder):
    torch.manual_seed(0)
    batch = make_query_batch(list(make_queries(sentences(), encoder)))
    tensors, head = QueryTensors.from_batch(batch, "cpu"), SpanPrediction(16)
    net = load(encoder.folder, 3, device="cpu").model
    optimiser = torch.optim.Adam([*net.parameters(), *head.parameters()], lr=3e-3)
    inputs = {name: tensors.inputs[name] for name in INPUTS}
    for _ in range(80):
        optimiser.zero_grad()
        head(net(**inputs).last_hidden_state, tensors).backward()
        optimiser.step()
    with torch.inference_mode():
        found = average_directions(
            head.predict_spans(net(**inputs).last_hidden_state, tensors).numpy(), batch
        )
    for found_in, links in zip(found, (LINKS[0], {(0, 0), (1, 1), (1, 3)}), strict=True):
        assert {(int(i), int(j)) for i, j in np.argwhere(found_in > 0.4)} == links
