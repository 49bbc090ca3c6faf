"""Long pairs: the tiles in which links may be, beside all cells."""

import re
from pathlib import Path

import numpy as np
import pytest

from otalign import Aligner
from otalign.encoders import Embeddings
from otalign.scoring import BatchBudget, LearnedScorer, PairBatch, batches, split_into_batches
from otalign.scoring.extraction import apply_hysteresis, extract_links
from otalign.scoring.heads import tiles
from otalign.scoring.heads.cells import AllCells
from otalign.scoring.heads.tiles import KEPT, SIDE, select_tiles
from tests.scoring.random_heads import make_batch, make_transport_head

SHAPES = [(1, 1), (SIDE, SIDE), (2 * SIDE, 3), (70, 45), (SIDE + 1, 5 * SIDE - 1), (9 * SIDE, 40)]


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    return Aligner.load(threads=1)


def to_library(library: str, head, batch: PairBatch):
    if library == "numpy":
        return head, batch
    torch = pytest.importorskip("torch")
    batch = PairBatch(*(torch.tensor(part) for part in batch))
    return head.to_device(batch.X), batch


def make_text(words: int) -> list[str]:
    """English without sentence ends: words of a page of the documentation."""
    page = (Path(__file__).parents[2] / "docs" / "align.md").read_text(encoding="utf-8")
    return re.findall("[a-z]+", re.sub("```.*?```", "", page, flags=re.DOTALL).lower())[:words]


def exchange_blocks(words: list, size: int) -> list:
    """The words, with a block at the beginning and one towards the end exchanged."""
    late = len(words) - 2 * size
    return words[late : late + size] + words[size:late] + words[:size] + words[late + size :]


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("level", ["sure", "possible"])
def test_the_scores_of_all_tiles_are_those_of_all_cells(level, shape, library, monkeypatch):
    head, batch = to_library(
        library, make_transport_head(1, spelling=True), make_batch([shape], spelling=True)
    )
    scorer = LearnedScorer(head, level)
    expected = scorer.score(batch)
    monkeypatch.setattr(batches, "LONG", 0)
    monkeypatch.setattr(tiles, "KEPT", 100)
    found = scorer.score(batch)
    assert found.tiles is not None
    for one, other in zip((found.matrices, *found[1:3]), expected[:3], strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("kept", [1, 2])
@pytest.mark.parametrize("spelling", [False, True])
def test_the_logits_of_some_tiles_are_those_without_the_other_cells(spelling, kept, monkeypatch):
    monkeypatch.setattr(tiles, "KEPT", kept)
    head, batch = make_transport_head(2, spelling=spelling), make_batch([(150, 200)], spelling=spelling)
    some = head.select_tiles(batch)
    others = AllCells(batch)
    others.mask = some.scatter(some.crop(some.mask))
    assert not others.mask.all()
    expected = head.compute_logits(batch, others)
    for found, logits in zip(some.crop(head.compute_logits(batch, some)), expected, strict=True):
        np.testing.assert_allclose(
            some.scatter(found)[others.mask], logits[others.mask], atol=1e-4, rtol=1e-4
        )


@pytest.mark.parametrize("hysteresis", [0.0, 0.4])
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_links_of_tiles_are_those_of_the_matrix_in_order(library, hysteresis, monkeypatch):
    head, batch = to_library(library, make_transport_head(1), make_batch([(150, 170)]))
    monkeypatch.setattr(batches, "LONG", 0)
    monkeypatch.setattr(tiles, "KEPT", 1)
    scores = LearnedScorer(head, "possible").score(batch)
    matrix = np.asarray(scores.matrices)[0]
    threshold = float(np.quantile(matrix, 0.99))
    found = extract_links(scores, batch, threshold, hysteresis)[0].links
    expected = list(zip(*np.nonzero(apply_hysteresis(matrix[None], hysteresis)[0] > threshold), strict=True))
    assert [(i, j) for i, j, _ in found] == expected
    np.testing.assert_allclose(
        [weight for *_, weight in found], matrix[*zip(*expected, strict=True)], atol=1e-4
    )


def make_vectors(n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of words, of which the target has those of the source in another order of blocks."""
    draw = np.random.default_rng(n)
    X = draw.normal(size=(n, 16))
    Y = X[[*range(n // 2, n), *range(n // 2)]] + 0.3 * draw.normal(size=(n, 16))
    X, Y = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (X, np.resize(Y, (m, 16))))
    return X[None].astype(np.float32), Y[None].astype(np.float32)


@pytest.mark.parametrize(("n", "m"), [(2000, 2000), (1500, 900), (300, 310)])
def test_the_best_tiles_have_the_words_that_belong_together_wherever_they_are(n, m):
    X, Y = make_vectors(n, m)
    places = select_tiles(X, Y, np.float32(9)).places
    kept = set(zip(*places.tolist(), strict=True))
    assert len(kept) <= KEPT * sum(-(-size // SIDE) for size in (n, m))
    belonging = [((j + n // 2) % n, j) for j in range(min(n, m))]
    assert all((i // SIDE, j // SIDE) in kept for i, j in belonging)
    backwards = select_tiles(Y, X, np.float32(9)).places
    assert {*zip(*backwards[::-1].tolist(), strict=True)} == kept


def test_equal_words_throughout_do_not_make_more_tiles():
    X = np.ones((1, 3000, 4), np.float32) / 2
    assert select_tiles(X, X, np.float32(9)).places.shape[1] <= 2 * KEPT * -(-3000 // SIDE)


def test_a_long_pair_is_in_a_batch_alone_whatever_the_budget():
    sizes = [256, 256, 257, 256, 250, 262, 256, 256, 257, 256]
    vectors = np.zeros((sum(sizes), 2), np.float32)
    embeddings = Embeddings(vectors, np.cumsum([0, *sizes]))
    found = list(split_into_batches(embeddings, BatchBudget(1 << 30, 1, 8)))
    alone = {k for indices, batch in found for k in indices if batch.X.shape[1] * batch.Y.shape[1] > 1 << 16}
    assert all(len(indices) == 1 for indices, _ in found if alone.intersection(indices))
    assert alone == {1, 4}
    assert sorted(k for indices, _ in found for k in indices) == [0, 1, 2, 3, 4]


def test_a_long_pair_has_the_same_links_alone_in_a_batch_and_with_all_scores(aligner):
    words = make_text(400)
    pair = words, exchange_blocks(words, 50)
    assert len(words) ** 2 > batches.LONG
    alone = aligner.align(*pair)
    *_, batched = aligner.align_many([(words[:5], words[:6]), (words[:300], words[100:]), pair])
    assert batched == alone
    (chunk,) = aligner.embed([pair])
    (scored,) = aligner.align_with_scores(chunk)
    assert scored.alignment == alone
    scores = apply_hysteresis(np.asarray(scored.scores)[None], aligner.settings.hysteresis)[0]
    assert {*zip(*(scores > aligner.settings.threshold).nonzero(), strict=True)} == alone.pairs


def test_blocks_that_moved_in_a_long_text_without_sentence_ends_are_linked(aligner, monkeypatch):
    words = make_text(1000)
    order = exchange_blocks(list(range(len(words))), 100)
    expected = {(i, j) for j, i in enumerate(order)}
    moved = {(i, j) for i, j in expected if i != j}
    found = aligner.align(words, [words[i] for i in order]).pairs
    assert len(found & expected) >= 0.9 * len(expected)
    assert len(found & moved) >= 0.65 * len(moved)  # the encoder reads them beside other words
    assert len(found & expected) >= 0.95 * len(found)
    monkeypatch.setattr(batches, "LONG", 1 << 40)
    among_all = aligner.align(words, [words[i] for i in order]).pairs
    assert len(found & among_all) >= 0.99 * len(among_all)
