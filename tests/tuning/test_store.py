"""The store of embeddings: all layers of a pairing in one run, equal to those of the encoder."""

import numpy as np
import pytest

from otalign.encoders import Encoder
from otalign.text.words import join_words
from otalign.tuning import EmbeddingStore, EncoderChoice
from tests.tuning.random_embeddings import LookupEncoder, make_golds

PAIRS = [(gold.source, gold.target) for gold in make_golds()]
CHOICES = [EncoderChoice(1), EncoderChoice(3), EncoderChoice(2, "separate")]


def store(folder, encoder, pairs=PAIRS, **given) -> EmbeddingStore:
    return EmbeddingStore(encoder, pairs, CHOICES, folder, **given)


def test_it_gives_what_the_encoder_gives(tmp_path):
    kept = store(tmp_path, LookupEncoder())
    sentences = [(join_words(source), join_words(target)) for source, target in PAIRS]
    for layer, pairing in CHOICES:
        expected = LookupEncoder().embed_layers(sentences, pairing, [layer])[layer]
        found = kept[EncoderChoice(layer, pairing)]
        assert np.array_equal(found.vectors, expected.vectors)
        assert np.array_equal(found.starts, expected.starts)
    assert list(kept) == CHOICES


def test_each_pairing_takes_one_run_and_is_kept(tmp_path):
    encoder = LookupEncoder()
    first = store(tmp_path, encoder)
    for choice in CHOICES:
        first[choice]
    assert encoder.runs == 2
    again = store(tmp_path, encoder)
    assert np.array_equal(again[CHOICES[0]].vectors, first[CHOICES[0]].vectors)
    assert encoder.runs == 2
    store(tmp_path, encoder, PAIRS[1:])[CHOICES[0]]
    assert encoder.runs == 3


def test_an_interrupted_run_leaves_nothing_half_done(tmp_path):
    class Failing(LookupEncoder):
        def embed_layers(self, *given):
            if self.runs:
                raise KeyboardInterrupt
            return super().embed_layers(*given)

    many = PAIRS * 100  # more than are embedded at once
    with pytest.raises(KeyboardInterrupt):
        store(tmp_path, Failing(), many)[EncoderChoice(1)]
    assert not list(tmp_path.iterdir())
    reports = []
    assert store(tmp_path, LookupEncoder(), many, progress=lambda *report: reports.append(report))[
        EncoderChoice(1)
    ].words
    assert reports[0][1] == 0
    assert reports[-1][1] == reports[-1][2]


def test_what_is_not_among_the_choices_or_has_no_words_is_refused(tmp_path):
    with pytest.raises(KeyError):
        store(tmp_path, LookupEncoder())[EncoderChoice(7)]
    with pytest.raises(ValueError, match="pairs must contain at least one word, got 1 pairs"):
        store(tmp_path, LookupEncoder(), [((), ())])


def test_an_encoder_of_one_layer_gives_no_other():
    with pytest.raises(ValueError, match="layer must be 3, the only one of lookup, got 2"):
        Encoder.compute_layers(LookupEncoder(), None, None, None, [2])  # pyright: ignore
