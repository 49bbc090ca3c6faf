"""Heads: equal in NumPy and torch and in any batch; gradients; and files."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from otalign.alignment import LEVELS
from otalign.encoders import Embeddings
from otalign.link_arrays import add_up
from otalign.ot import Balanced, Entropic, Partial, Unbalanced
from otalign.scoring import PairBatch, split_into_batches
from otalign.scoring import heads as heads
from otalign.scoring.extraction import extract_links
from otalign.scoring.heads import ProjectionHead, TransportHead, convolution
from otalign.scoring.learned import LearnedScorer, compute_link_probabilities
from otalign.scoring.transport import TransportScorer
from otalign.settings import Settings
from otalign.text.spelling import SIZE as SPELLING_SIZE
from tests.scoring.random_heads import (
    SHAPES,
    SIZE,
    make_batch,
    make_projection_head,
    make_transport_head,
    to_torch,
)

torch = pytest.importorskip("torch")

TIGHT = Entropic(tol=1e-13, max_iterations=5000)
SPELLING = pytest.mark.parametrize("spelling", [False, True])
UNSEEN = np.zeros((16, 2), np.float32)  # output layers that ignore the cells around a cell
PROBLEMS = [Balanced(), Partial(0.7), Unbalanced(0.5)]


def settings(problem) -> Settings:
    return Settings(
        encoder="", layer=0, centring=False, smoothing=0, distortion=0, fertility="norm", problem=problem
    )


def crop_pairs(odds, shapes=SHAPES) -> list[np.ndarray]:
    """The log-odds of each pair, (levels, n, m), without what was padded."""
    return [np.asarray(odds)[:, k, :n, :m] for k, (n, m) in enumerate(shapes)]


def all_close(found, expected, atol=1e-5):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=atol, rtol=1e-5)


@pytest.mark.parametrize("seed", range(5))
@SPELLING
def test_numpy_and_torch_give_the_same_log_odds(spelling, seed):
    head, batch = make_transport_head(seed, spelling=spelling), make_batch(seed=seed, spelling=spelling)
    found = head.compute_logits(batch)
    assert found.dtype == np.float32
    assert found.shape == (2, 4, 6, 6)
    lent = head.to_device(torch.tensor(batch.X)).compute_logits(to_torch(batch))
    assert lent.dtype == torch.float32
    largest = abs(found).max()  # what is summed up is as large, and rounded by as much
    np.testing.assert_allclose(lent.numpy(), found, atol=1e-5 * largest)
    wide = TransportHead(**{name: a.astype(np.float64) for name, a in head.arrays().items()})
    batch = batch._replace(X=batch.X.astype(np.float64), Y=batch.Y.astype(np.float64))
    lent = wide.to_device(torch.tensor(batch.X)).compute_logits(to_torch(batch))
    np.testing.assert_allclose(lent.numpy(), wide.compute_logits(batch), atol=1e-9)


def by_the_formulas(head: TransportHead, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """The log-odds of one pair, (levels, n, m), as the head's docstring says, with torch's convolution."""
    near, wider = (
        torch.tensor(kernel.reshape(3, 3, -1, kernel.shape[-1])).permute(3, 2, 0, 1)
        for kernel in (head.near, head.wider)
    )
    (X, A), (Y, B) = ((words[:, :SIZE], words[:, SIZE:]) for words in (X, Y))
    alike = A @ B.T
    x, y = (np.tanh(words @ head.map + head.offset) for words in (X, Y))
    cosines = (x @ y.T) / np.outer(np.linalg.norm(x, axis=1), np.linalg.norm(y, axis=1))
    S = cosines * np.exp(head.log_sharpness)[:, None, None]
    likely = np.exp(S[0])
    chosen = (likely / likely.sum(1, keepdims=True) + likely / likely.sum(0, keepdims=True)) / 2
    n, m = cosines.shape
    apart = abs(np.linspace(0, 1, n)[:, None] - np.linspace(0, 1, m)) if min(n, m) > 1 else np.zeros((n, m))
    same = alike > 0.999
    others = [(np.delete(same[i], j), np.delete(same[:, j], i)) for i in range(n) for j in range(m)]
    elsewhere = np.array([int(row.any()) + int(column.any()) for row, column in others]).reshape(n, m)
    spelled = [alike, same, elsewhere / 2] if head.reads_spelling else []
    there = torch.tensor(np.stack([*S, chosen, apart, *spelled, np.ones((n, m))]))
    first = torch.conv2d(there, near, torch.tensor(head.near_offset), padding=1).relu()
    second = first + torch.conv2d(first, wider, torch.tensor(head.wider_offset), padding=1).relu()
    S = S + np.einsum("cnm,cl->lnm", second.numpy(), head.seen)
    price_x, price_y = (np.exp(words @ head.price + head.base_price).T for words in (X, Y))
    f, g = -np.log(price_x + np.exp(S).sum(2)), -np.log(price_y + np.exp(S).sum(1))
    alpha, beta, gamma = (level[:, None, None] for level in (head.alpha, head.beta, head.gamma))
    logits = alpha * S + beta * (2 * S + f[:, :, None] + g[:, None, :]) + gamma
    links = 1 / (1 + np.exp(-logits))
    counts = np.add.outer(links[0].sum(1), links[0].sum(0)).clip(max=4) / 2
    around = torch.tensor(head.around.reshape(3, 3, -1, head.around.shape[-1])).permute(3, 2, 0, 1)
    features = torch.tensor(np.stack([*links, counts, np.ones((n, m))]))
    third = torch.conv2d(features, around, torch.tensor(head.around_offset), padding=1).relu()
    return logits + np.einsum("cnm,cl->lnm", third.numpy(), head.support)


@pytest.mark.parametrize("seed", range(5))
@SPELLING
def test_log_odds_are_those_of_the_formulas(spelling, seed):
    batch, head = make_batch(seed=seed, spelling=spelling), make_transport_head(seed, spelling=spelling)
    batch = batch._replace(X=batch.X.astype(np.float64), Y=batch.Y.astype(np.float64))
    wide = TransportHead(**{name: a.astype(np.float64) for name, a in head.arrays().items()})
    expected = [by_the_formulas(wide, batch.X[k, :n], batch.Y[k, :m]) for k, (n, m) in enumerate(SHAPES)]
    all_close(crop_pairs(wide.compute_logits(batch)), expected, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
@SPELLING
def test_padding_changes_nothing(spelling, seed):
    head = make_transport_head(seed, spelling=spelling)
    expected = crop_pairs(head.compute_logits(make_batch(seed=seed, spelling=spelling)))
    all_close(crop_pairs(head.compute_logits(make_batch(seed=seed, more=3, spelling=spelling))), expected)


@pytest.mark.parametrize("seed", range(5))
@SPELLING
def test_an_answer_does_not_depend_on_its_batch(spelling, seed):
    head, batch = make_transport_head(seed, spelling=spelling), make_batch(seed=seed, spelling=spelling)
    together = crop_pairs(head.compute_logits(batch))
    for k, (n, m) in enumerate(SHAPES):
        one = slice(k, k + 1)
        alone = PairBatch(
            batch.X[one, :n], batch.Y[one, :m], batch.is_source[one, :n], batch.is_target[one, :m]
        )
        all_close(crop_pairs(head.compute_logits(alone), [(n, m)]), [together[k]])
    backwards = PairBatch(*(part[::-1] for part in batch))
    all_close(crop_pairs(head.compute_logits(backwards), SHAPES[::-1]), together[::-1])


@pytest.mark.parametrize("seed", range(5))
@SPELLING
@pytest.mark.parametrize("level", LEVELS)
def test_onnxruntime_gives_the_same_links(level, spelling, seed):
    head, batch = make_transport_head(seed, spelling=spelling), make_batch(seed=seed, spelling=spelling)
    logits = head.compute_logits(batch)
    expected = compute_link_probabilities(logits, batch.cells, head.calibration, level)
    np.testing.assert_allclose(LearnedScorer(head, level).score(batch).links, expected, atol=2e-5)
    again = pickle.loads(pickle.dumps(head))  # without the sessions, which cannot be pickled
    np.testing.assert_allclose(LearnedScorer(again, level).score(batch).links, expected, atol=2e-5)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("level", LEVELS)
def test_links_in_int8_are_nearly_those_in_float32(level, seed):
    head, batch = make_transport_head(seed, spelling=True), make_batch(seed=seed, spelling=True)
    links, expected = (LearnedScorer(head, level, int8).score(batch).links for int8 in (True, False))
    assert 0 < abs(links - expected).max() < 0.1


@pytest.mark.parametrize("int8", [False, True])
@pytest.mark.parametrize("seed", range(5))
@SPELLING
def test_scores_are_the_same_to_the_last_bit_alone_and_in_any_batch(spelling, seed, int8):
    random, shapes = np.random.default_rng(seed), [(7, 9), (5, 12), (8, 8), (6, 11), (1, 3), (30, 18)]
    size = 32 + SPELLING_SIZE * spelling
    starts = add_up(np.array(shapes).reshape(-1))
    embeddings = Embeddings(random.normal(size=(starts[-1], size)).astype(np.float32), starts)
    scorer = LearnedScorer(make_transport_head(seed, 32, spelling=spelling), "sure", int8)

    def score(part: Embeddings) -> dict[int, list[np.ndarray]]:
        return {
            k: [scores.links[at], scores.source_nulls[at], scores.target_nulls[at]]
            for indices, batch in split_into_batches(part, scorer.budget)
            for scores in [scorer.score(batch)]
            for at, k in enumerate(indices)
        }

    together = score(embeddings)
    for k in range(len(shapes)):
        first, end = starts[2 * k], starts[2 * k + 2]
        alone = Embeddings(embeddings.vectors[first:end], starts[2 * k : 2 * k + 3] - first)
        for one, other in zip(score(alone)[0], together[k], strict=True):
            np.testing.assert_array_equal(one, other)


def symmetric(kernel: np.ndarray) -> np.ndarray:
    """The kernel (9 · channels in, channels out), alike for a cell and the one across the diagonal."""
    cells = kernel.reshape(3, 3, -1, kernel.shape[-1])
    return ((cells + cells.transpose(1, 0, 2, 3)) / 2).reshape(kernel.shape)


@pytest.mark.parametrize("side", [1, 2, 3, 5])
def test_a_long_pair_is_the_same_in_blocks(side, monkeypatch):
    head, batch = make_transport_head(3), make_batch(seed=3)
    alone = PairBatch(*(part[:1] for part in batch))
    whole = head.compute_logits(alone)
    monkeypatch.setattr(convolution, "BLOCK", side)
    np.testing.assert_allclose(head.compute_logits(alone), whole, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kernels", ["symmetric", "unseen"])
@SPELLING
def test_swapping_the_sentences_transposes_the_log_odds(spelling, kernels, seed):
    head, batch = make_transport_head(seed, spelling=spelling), make_batch(seed=seed, spelling=spelling)
    if kernels == "symmetric":
        kernels = {name: symmetric(getattr(head, name)) for name in ("near", "wider", "around")}
        head = replace(head, **kernels)
    else:
        head = replace(head, seen=np.zeros_like(head.seen), support=np.zeros_like(head.support))
    swapped = head.compute_logits(PairBatch(batch.Y, batch.X, batch.is_target, batch.is_source))
    all_close(crop_pairs(swapped.swapaxes(2, 3)), crop_pairs(head.compute_logits(batch)), atol=1e-4)


def test_the_cells_around_a_cell_affect_its_score():
    batch, changed = make_batch([(5, 5)]), make_batch([(5, 5)])
    changed.X[:, 4] *= -1  # the last word; the test is about the one before
    seeing = make_transport_head(beta=np.zeros(2, np.float32))
    blind = replace(seeing, seen=np.zeros_like(seeing.seen), support=np.zeros_like(seeing.support))
    before, after = (blind.compute_logits(one)[:, 0, 3] for one in (batch, changed))
    np.testing.assert_allclose(before, after, atol=1e-6)
    before, after = (seeing.compute_logits(one)[:, 0, 3] for one in (batch, changed))
    assert abs(before - after).max() > 1e-3


# What `Recipe.ablate` leaves out


def test_without_competition_a_cell_does_not_depend_on_the_others():
    head = make_transport_head(beta=np.zeros(2, np.float32), **dict.fromkeys(("seen", "support"), UNSEEN))
    batch = make_batch([(4, 3)])
    part = batch._replace(X=batch.X[:, :2], is_source=batch.is_source[:, :2])
    np.testing.assert_allclose(head.compute_logits(batch)[:, :, :2], head.compute_logits(part), atol=1e-5)
    rival = replace(head, beta=np.ones(2, np.float32))
    assert abs(rival.compute_logits(batch)[:, :, :2] - rival.compute_logits(part)).max() > 1e-3


def test_without_prices_all_words_cost_the_same_to_leave():
    same = {"map": np.zeros((SIZE, SIZE), np.float32), "seen": UNSEEN, "support": UNSEEN}
    head = make_transport_head(price=np.zeros((SIZE, 2), np.float32), **same)  # to which all words look alike
    odds = head.compute_logits(make_batch([(4, 3)]))
    np.testing.assert_allclose(odds, np.broadcast_to(odds[..., :1, :1], odds.shape), atol=1e-5)
    priced = replace(head, price=10 * make_transport_head().price)
    odds = priced.compute_logits(make_batch([(4, 3)]))
    assert abs(odds - odds[..., :1, :1]).max() > 1e-2


def test_a_word_with_a_high_price_is_null():
    price = np.zeros((SIZE, 2), np.float32)
    price[0] = 50.0
    head = make_transport_head(
        price=price,
        beta=np.ones(2, np.float32),
        calibration=np.outer([1, 0, 0, 0], np.ones(2, np.float32)),
        null_calibration=np.outer([1, 0, 0, 0], np.ones(2, np.float32)),
    )
    batch = make_batch([(4, 4)])
    batch.X[0, :, 0], batch.Y[0, :, 0] = [-1, -1, 5, -1], -1
    found = LearnedScorer(head, "possible").score(batch)
    assert found.links[0, 2].max() < 1e-6
    assert found.source_nulls[0, 2] > 1 - 1e-5
    assert found.links[0, [0, 1, 3]].max() > 0.1


# Gradients


def leaves(head):
    return {name: torch.tensor(a).double().requires_grad_() for name, a in head.arrays().items()}


def test_gradients_through_log_odds_are_finite_differences():
    batch = to_torch(make_batch([(3, 2), (1, 3)], size=4), torch.float64)
    head = leaves(make_transport_head(size=4))
    names = [name for name in head if "calibration" not in name]

    def odds(X, Y, *arrays):
        made = TransportHead(**(head | dict(zip(names, arrays, strict=True))))
        found = made.compute_logits(batch._replace(X=X, Y=Y))
        return found[:, batch.is_source[:, :, None] & batch.is_target[:, None, :]]

    inputs = (batch.X.requires_grad_(), batch.Y.requires_grad_(), *(head[name] for name in names))
    assert torch.autograd.gradcheck(odds, inputs, eps=1e-6, atol=1e-5, rtol=1e-4, fast_mode=True)


@pytest.mark.parametrize("problem", PROBLEMS, ids=repr)
def test_gradients_through_a_projection_and_its_transport_are_finite_differences(problem):
    batch = to_torch(make_batch([(3, 2), (2, 3)], size=4), torch.float64)
    how = replace(settings(problem), solver=TIGHT)
    head = leaves(make_projection_head(size=4))

    def plan(X, Y, map, offset):
        links = TransportScorer(how, ProjectionHead(map, offset)).score(batch._replace(X=X, Y=Y)).links
        return (links * links).sum((1, 2))

    inputs = (batch.X.requires_grad_(), batch.Y.requires_grad_(), *head.values())
    assert torch.autograd.gradcheck(plan, inputs, eps=1e-7, atol=1e-4, rtol=1e-3, fast_mode=True)


@pytest.mark.parametrize("problem", PROBLEMS, ids=repr)
def test_gradients_are_finite_for_any_shape_and_for_equal_words(problem):
    batch = to_torch(make_batch([(1, 1), (1, 4), (5, 2), (3, 3)]))
    batch.X[3] = batch.X[3, :1].clone()
    batch.Y[3, :3] = batch.X[3, :3]
    for head in (make_projection_head(), make_transport_head()):
        arrays = {name: torch.tensor(a, requires_grad=True) for name, a in head.arrays().items()}
        made = type(head)(**arrays)
        if isinstance(made, ProjectionHead):
            found = TransportScorer(settings(problem), made).score(batch).links
        else:
            found = made.compute_logits(batch)
        assert torch.isfinite(found).all()
        (found * found).sum().backward()
        for name, array in arrays.items():
            assert array.grad is None or torch.isfinite(array.grad).all(), name


# Files


@pytest.mark.parametrize(
    "head", [make_transport_head(), make_projection_head()], ids=lambda head: type(head).__name__
)
def test_a_saved_head_is_the_same_again(head, tmp_path):
    head.save(tmp_path)
    found = heads.load_head(tmp_path)
    assert type(found) is type(head)
    for name, array in head.arrays().items():
        np.testing.assert_array_equal(getattr(found, name), array)


def test_a_folder_without_a_head_has_none(tmp_path):
    assert heads.load_head(tmp_path) is None
    assert heads.load_head(tmp_path / "nowhere") is None


def torn(file):
    file.write_bytes(file.read_bytes()[:200])


def nothing(file):
    file.write_bytes(b"")


def unnamed(file):
    from safetensors.numpy import save_file

    save_file({"map": np.zeros((2, 2))}, file)


def unknown(file):
    from safetensors.numpy import save_file

    save_file({"map": np.zeros((2, 2))}, file, {"head": "Medusa"})


def partly(file):
    from safetensors.numpy import save_file

    save_file({"map": np.zeros((2, 2))}, file, {"head": "LearnedTransport"})


@pytest.mark.parametrize("spoil", [torn, nothing, unnamed, unknown, partly])
def test_a_file_that_is_no_head_is_named(spoil, tmp_path):
    make_transport_head().save(tmp_path)
    spoil(tmp_path / heads.HEAD_FILE)
    with pytest.raises(ValueError, match=r"head\.safetensors is not a valid otalign head file"):
        heads.load_head(tmp_path)


def changed(**arrays):
    def spoil(file):
        from safetensors.numpy import save_file

        save_file(make_transport_head().arrays() | arrays, file, {"head": "LearnedTransport"})

    return spoil


def nan(*shape: int) -> np.ndarray:
    return np.full(shape, np.nan, dtype=np.float32)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (changed(gamma=nan(2)), "gamma holds numbers that are not finite"),
        (changed(map=np.ones((SIZE, 2), dtype=np.float32)), "map must have the shape 6 × 6, got 6 × 2"),
        (changed(seen=np.ones(2, dtype=np.float32)), "seen must have the shape 16 × 2, got 2"),
        (changed(offset=np.array(1, dtype=np.float32)), "len"),
        (changed(alpha=np.ones(2, dtype=np.int64)), "alpha must hold floating-point numbers, got int64"),
        (changed(extra=nan(1)), "extra"),
    ],
)
def test_a_head_whose_arrays_are_wrong_is_refused(spoil, message, tmp_path):
    spoil(tmp_path / heads.HEAD_FILE)
    with pytest.raises(ValueError, match=rf"head\.safetensors is not a valid otalign head file: .*{message}"):
        heads.load_head(tmp_path)


def test_a_head_of_an_older_version_has_calibrations_without_a_tilt(tmp_path):
    old = np.array([[0.8, 0.6], [0.2, 0.5], [-0.3, -0.2]], np.float32)
    changed(calibration=old)(tmp_path / heads.HEAD_FILE)
    head = heads.load_head(tmp_path)
    assert isinstance(head, TransportHead)
    np.testing.assert_array_equal(head.calibration, [*old, [0, 0]])
    assert head.null_calibration.shape == (4, 2)


def test_a_head_for_embeddings_of_another_size_is_refused(tmp_path):
    make_transport_head().save(tmp_path)
    assert heads.load_head(tmp_path, SIZE) is not None
    with pytest.raises(ValueError, match="map must have the shape 384 × 384, got 6 × 6"):
        heads.load_head(tmp_path, 384)


def test_the_shapes_are_those_of_a_new_head():
    for head in (make_transport_head(), make_transport_head(spelling=True), make_projection_head()):
        assert head.compute_shapes(SIZE) == {name: array.shape for name, array in head.arrays().items()}


def test_finite_arrays_that_lead_to_numbers_that_are_not_are_an_error():
    head = make_transport_head(log_sharpness=np.full(2, 1e4, dtype=np.float32))
    with np.errstate(all="ignore"):
        found = LearnedScorer(head, "sure").score(make_batch())
    with pytest.raises(ValueError, match="the scores of some words are not finite"):
        extract_links(found, make_batch(), 0.5)
