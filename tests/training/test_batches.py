"""Training batches: word vectors equal those of the encoder, links equal the gold, every pair comes once."""

from collections import Counter
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest

from otalign.encoders.chunks import EmbeddedPairs
from otalign.encoders.transformers import Transformers
from otalign.scoring.heads import TransportHead
from otalign.text.spelling import SPELLING
from otalign.text.words import join_words
from otalign.training import CorpusSplits, Recipe
from otalign.training.augmentation import NO_AUGMENTATION
from otalign.training.batches import PairSet
from otalign.training.model import Model
from otalign.training.objectives import LearnedObjective
from otalign.training.sources import TrainingPairs
from otalign.training.store import LEVELS, PairTexts, build_store
from otalign.training.stream import ExampleStream
from otalign.training.tensors import BatchTensors
from tests.training.examples import EMPTY, GOLDS, LONG, SURE

WITH_ODD_ONES = [*GOLDS[:4], *EMPTY, LONG, *GOLDS[4:]]
SETTINGS = LearnedObjective().make_settings("", 3, "joint", "")


def load_encoder(folder) -> Transformers:
    return Transformers(str(folder), 3, device="cpu")


def make_model(encoder: Transformers, layers: int = 1) -> Model:
    head = TransportHead.initialize(16, np.random.default_rng(0))
    return Model(encoder, head, LearnedObjective(), SETTINGS, Recipe(layers=layers)).eval()


def make_stream(golds, encoder: Transformers, known=None, predicted=None, share: float = 0.0, **options):
    """The training pairs, as the loop reads them, without augmentation unless it is asked for."""
    known = np.ones((len(golds), len(LEVELS)), dtype=bool) if known is None else known
    texts = PairTexts.build((gold.source, gold.target) for gold in golds)
    store = build_store(golds, known, texts, predicted, share)
    options = {"augmentation": NO_AUGMENTATION, "both_directions": False} | options
    return ExampleStream(store, encoder.reader, **options)


def read_batch(stream: ExampleStream):
    """Return all pairs of a stream in one batch, in the order of their numbers."""
    ((batch,),) = stream.read(1000, (0, 1), np.random.default_rng(0))
    return batch


def list_alignable(pairs: PairSet) -> np.ndarray:
    return np.array([k for k, (n, m) in enumerate(pairs.lengths) if n and m])


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("pairing", ["joint", "separate"])
@pytest.mark.parametrize("kind", ["bert", "roberta", "mpnet"])
def test_words_are_those_that_the_encoder_embeds_however_long_the_pair(tiny_model, kind, pairing, layers):
    """In training the model computes them from batches; in alignment the encoder computes them."""
    import torch

    encoder = load_encoder(tiny_model(kind))
    assert sum(map(len, (LONG.source, LONG.target))) > 2 * encoder.limit
    pairs, model = PairSet(WITH_ODD_ONES, encoder, pairing), make_model(encoder, layers)
    mix = model.compute_mix()
    encoder.mix = None if mix is None else mix.detach().numpy()
    sentences = [(join_words(gold.source), join_words(gold.target)) for gold in WITH_ODD_ONES]
    chunk = EmbeddedPairs(sentences, encoder.embed(sentences, pairing))
    expected = chunk.append_features(SPELLING).embeddings
    batch = pairs.make_batch(list_alignable(pairs))
    with torch.inference_mode():
        words = model.embed_words(BatchTensors.from_batch(batch, "cpu"))
    for b, k in enumerate(batch.pairs):
        n, m = WITH_ODD_ONES[k].shape
        assert (words.is_source[b].sum(), words.is_target[b].sum()) == (n, m)
        (X,), (Y,) = (expected.pad([2 * k + side])[0] for side in (0, 1))
        np.testing.assert_allclose(words.X[b, :n], X, atol=1e-4)
        np.testing.assert_allclose(words.Y[b, :m], Y, atol=1e-4)


@pytest.mark.parametrize("pairing", ["joint", "separate"])
def test_a_pair_is_the_same_in_any_batch(tiny_model, pairing):
    import torch

    encoder = load_encoder(tiny_model("bert"))
    pairs, model = PairSet(WITH_ODD_ONES, encoder, pairing), make_model(encoder)
    order = list_alignable(pairs)
    with torch.inference_mode():
        whole = model.embed_words(BatchTensors.from_batch(pairs.make_batch(order), "cpu"))
        for b, k in enumerate(order):
            alone = model.embed_words(BatchTensors.from_batch(pairs.make_batch(np.array([k])), "cpu"))
            n, m = pairs.lengths[k]
            np.testing.assert_allclose(whole.X[b, :n], alone.X[0], atol=1e-5)
            np.testing.assert_allclose(whole.Y[b, :m], alone.Y[0], atol=1e-5)


def test_links_are_those_of_the_gold_at_both_levels(tiny_model):
    pairs = PairSet(WITH_ODD_ONES, load_encoder(tiny_model("bert")))
    batch = pairs.make_batch(list_alignable(pairs)[::-1])
    assert batch.known.all()
    for b, k in enumerate(batch.pairs):
        for number, level in enumerate(LEVELS):
            found = set(zip(*map(np.ndarray.tolist, np.nonzero(batch.links[number, b])), strict=True))
            assert found == WITH_ODD_ONES[k].pairs(level)


def test_the_other_direction_transposes_pairs_and_links(tiny_model):
    pairs = PairSet(GOLDS, load_encoder(tiny_model("bert")), both_directions=True)
    assert len(pairs) == len(GOLDS)
    there = np.arange(len(GOLDS))
    one, other = pairs.make_batch(there), pairs.make_batch(there + len(GOLDS))
    np.testing.assert_array_equal(other.links, one.links.swapaxes(2, 3))
    np.testing.assert_array_equal(other.lengths, one.lengths[:, ::-1])
    swapped = PairSet([gold.transpose() for gold in GOLDS], load_encoder(tiny_model("bert"))).make_batch(
        there
    )
    np.testing.assert_array_equal(other.ids, swapped.ids)
    np.testing.assert_array_equal(other.words, swapped.words)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("size", [1, 4, 5, 100])
def test_every_pair_with_words_on_both_sides_comes_once_an_epoch(tiny_model, both, size):
    pairs = PairSet(WITH_ODD_ONES, load_encoder(tiny_model("bert")), both_directions=both)
    seen = []
    for epoch in range(20):
        batches = pairs.shuffle(size, np.random.default_rng(epoch))
        assert max(map(len, batches)) <= size
        drawn = np.concatenate(batches)
        assert Counter((drawn % len(pairs)).tolist()) == Counter(
            list_alignable(pairs)[: len(GOLDS) + 1].tolist()
        )
        seen.append(tuple(drawn))
    assert len(set(seen)) > 10
    assert {int(k) // len(pairs) for drawn in seen for k in drawn} == ({0, 1} if both else {0})


def test_what_an_epoch_draws_depends_on_its_random_numbers_alone(tiny_model):
    pairs = PairSet(WITH_ODD_ONES, load_encoder(tiny_model("bert")), both_directions=True)
    first = pairs.shuffle(4, np.random.default_rng(5))
    pairs.shuffle(3, np.random.default_rng(6))
    for one, again in zip(first, pairs.shuffle(4, np.random.default_rng(5)), strict=True):
        np.testing.assert_array_equal(one, again)


def test_all_pairs_are_read_for_a_score_as_they_are_and_under_a_budget(tiny_model):
    pairs = PairSet(WITH_ODD_ONES, load_encoder(tiny_model("bert")), both_directions=True)
    for budget in (1, 100, 10_000):
        batches = list(pairs.batch_by_length(budget))
        found = np.concatenate([batch.pairs for batch in batches])
        assert sorted(found.tolist()) == list_alignable(pairs)[: len(GOLDS) + 1].tolist()
    assert len(batches) == 1


def test_pairs_without_words_make_no_batch(tiny_model):
    pairs = PairSet(EMPTY, load_encoder(tiny_model("bert")))
    assert pairs.shuffle(4, np.random.default_rng(0)) == []
    assert list(pairs.batch_by_length(100)) == []


def test_links_are_all_possible_where_only_the_dev_set_distinguishes_the_levels():
    clear, vague = CorpusSplits(GOLDS, GOLDS), CorpusSplits(SURE, GOLDS)
    plain = CorpusSplits(SURE, SURE)

    def find_known(**sources: CorpusSplits) -> np.ndarray:
        return TrainingPairs.collect(sources, None).known

    assert find_known(clear=clear).all()
    assert find_known(plain=plain).all()
    known = find_known(clear=clear, vague=vague, plain=plain)
    n = len(GOLDS)
    assert known.shape == (3 * n, 2)
    assert known[:, 1].all()
    assert known[:, 0].tolist() == [True] * n + [False] * n + [True] * n
    assert find_known(vague=vague).all()  # there is nothing else to go by
    moved = find_known(clear=clear, vague=vague.move_folds(1, 2))
    assert len(moved) == 2 * n + n // 2
    assert moved[:, 0].tolist() == [True] * n + [False] * n + [True] * (n // 2)


@pytest.mark.parametrize("folds", [2, 3])
def test_every_dev_pair_is_held_out_once_and_learned_from_otherwise(folds):
    splits = CorpusSplits(SURE, GOLDS)
    parts = [splits.move_folds(k + 1, folds) for k in range(folds)]
    assert sorted(map(repr, chain.from_iterable(part.dev for part in parts))) == sorted(map(repr, GOLDS))
    for part in parts:
        assert part.train == SURE
        assert sorted(map(repr, (*part.dev, *part.extra))) == sorted(map(repr, GOLDS))


def test_a_small_corpus_is_repeated_until_it_has_its_share():
    sources = {"large": CorpusSplits(GOLDS * 8, GOLDS), "small": CorpusSplits(GOLDS, GOLDS)}
    for balance, times in ((0.0, 1), (0.5, 4), (1.0, 8)):
        repeats = TrainingPairs.collect(sources, None, balance=balance).repeats
        assert repeats.tolist() == [1] * 8 * len(GOLDS) + [times] * len(GOLDS)


def test_a_level_that_is_not_known_is_not_learned(tiny_model):
    encoder = load_encoder(tiny_model("bert"))
    known = np.ones((len(GOLDS), 2), dtype=bool)
    known[:5, 0] = False
    model, batch = make_model(encoder), read_batch(make_stream(GOLDS, encoder, known))
    np.testing.assert_array_equal(batch.known, known[batch.pairs].T)
    unknown = batch.pairs < 5
    otherwise = batch.links.copy()
    otherwise[0, unknown] = 1 - otherwise[0, unknown]
    loss, same = (
        float(model(BatchTensors.from_batch(one, "cpu")).detach())
        for one in (batch, replace(batch, links=otherwise))
    )
    assert loss == pytest.approx(same)
    otherwise[1, unknown] = 1 - otherwise[1, unknown]
    other = float(model(BatchTensors.from_batch(replace(batch, links=otherwise), "cpu")).detach())
    assert other != pytest.approx(loss)
