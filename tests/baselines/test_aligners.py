"""The baselines with the interface of the aligner: they give the links of the underlying classes."""

from itertools import count, islice

import numpy as np
import pytest

import otalign
from otalign.aligner import Aligner
from otalign.baselines import (
    ArgMax,
    FastAlign,
    FastAligner,
    IterMax,
    MaximumMatching,
    SimAlign,
    SimAligner,
    compute_similarity,
)
from otalign.encoders import chunks as module
from otalign.encoders import load
from otalign.method import Method
from otalign.text.words import join_words, tokenize

PAIRS = [
    ("He bought a used car.", "He purchased a second-hand car yesterday."),
    ("", "the hills"),
    ("Rain fell on the town.", "The town was in the rain."),
    ("", ""),
    ("car", "the old car"),
    ("It can't be sold today.", "It can be sold."),
]


@pytest.fixture(scope="session")
def encoder(tiny_model):
    return load(tiny_model("bert"), 2, device="cpu")


def words(pairs):
    return [tuple(tokenize(side).words for side in pair) for pair in pairs]


@pytest.mark.parametrize("pairing", ["separate", "joint"])
@pytest.mark.parametrize("centring", [False, True])
@pytest.mark.parametrize("options", [SimAlign(), SimAlign(ArgMax(), 0.5, 0.99), SimAlign(IterMax(3))])
def test_simalign_links_what_it_links_by_the_same_embeddings(encoder, options, pairing, centring):
    embeddings = encoder.embed([tuple(map(tokenize, pair)) for pair in PAIRS], pairing)
    vectors = np.asarray(embeddings.vectors)
    vectors = vectors - vectors.mean(0, dtype=np.float64).astype(np.float32) if centring else vectors
    found = list(SimAligner(encoder, options, pairing, centring).align_many(PAIRS))
    assert [(alignment.source, alignment.target) for alignment in found] == words(PAIRS)
    for k, alignment in enumerate(found):
        X, Y = (vectors[slice(*embeddings.starts[at : at + 2])] for at in (2 * k, 2 * k + 1))
        S = compute_similarity(X, Y)
        assert alignment.pairs == options.align(S)
        for i, j, weight in alignment.links:
            assert weight == pytest.approx(S[i, j], abs=1e-4)


def test_simalign_takes_the_heaviest_matching(encoder):
    pytest.importorskip("scipy", reason="MaximumMatching() needs SciPy")
    for alignment in SimAligner(encoder, SimAlign(MaximumMatching())).align_many(PAIRS):
        assert len(alignment.links) == min(alignment.shape)


def test_simalign_encodes_separately_and_does_not_centre_by_default(encoder):
    aligner = SimAligner(encoder)
    assert (aligner.pairing, aligner.centring, aligner.options) == ("separate", False, SimAlign())
    for pair, alignment in zip(PAIRS, aligner.align_many(PAIRS), strict=True):
        assert aligner.align(*pair).pairs == alignment.pairs, "without centring, company decides nothing"


def test_two_words_centred_on_themselves_are_opposite_and_still_linked(encoder):
    for word in ("auto", "wagon", "rain", "town", "he", "today"):
        alignment = SimAligner(encoder, centring=True).align("car", word)
        assert alignment.links[0].weight == 0  # rounding must not make it less


def test_simalign_reads_no_more_pairs_than_are_requested(encoder, monkeypatch):
    monkeypatch.setattr(module, "CHUNK_PAIRS", 4)
    taken = []
    stream = ((taken.append(k), PAIRS[0])[1] for k in count())
    assert len(list(islice(SimAligner(encoder).align_many(stream), 3))) == 3
    assert len(taken) == 4


def test_of_an_aligners_folder_simalign_takes_encoder_layer_and_mean(tiny_model, tmp_path):
    aligner = Aligner.load(tiny_model("bert"), layer=1, device="cpu", pairing="joint").fit_centre(PAIRS)
    aligner.save(tmp_path / "saved")
    plain = SimAligner.load(tmp_path / "saved", device="cpu")
    assert (plain.encoder.layer, plain.pairing, plain.centre) == (1, "separate", None)
    centred = SimAligner.load(tmp_path / "saved", device="cpu", pairing="joint", centring=True)
    np.testing.assert_allclose(centred.centre.mean, aligner.centre.mean, atol=1e-6)
    apart = SimAligner.load(tmp_path / "saved", device="cpu", pairing="separate", centring=True)
    assert apart.centre is None, "the mean is that of words encoded together"


def test_of_a_trained_aligner_simalign_takes_the_encoder():
    aligner = SimAligner.load("small")
    assert (aligner.pairing, aligner.centring, aligner.centre) == ("separate", False, None)
    assert aligner.align("It rains", "It rains").pharaoh() == "0-0 1-1"


@pytest.mark.parametrize("how", ["intersection", "union", "grow-diag", "grow-diag-final-and"])
def test_fast_align_links_what_it_learns_from_the_same_pairs(how):
    pairs, more = PAIRS * 3, words(PAIRS[::-1]) * 2
    expected = FastAlign().train([*more, *words(pairs)]).aligned.symmetrise(how)[len(more) :]
    found = list(FastAligner(symmetrisation=how, more=more).align_many(pairs))
    assert [alignment.pairs for alignment in found] == expected
    assert [(alignment.source, alignment.target) for alignment in found] == words(pairs)
    assert {link.weight for alignment in found for link in alignment.links} == {1.0}
    assert found[0].source_spans == tokenize(PAIRS[0][0]).spans


def test_fast_align_takes_lists_of_words_and_sentences():
    pairs = words(PAIRS)
    expected = [alignment.pairs for alignment in FastAligner().align_many(pairs)]
    sentences = [tuple(map(join_words, pair)) for pair in pairs]
    assert [alignment.pairs for alignment in FastAligner().align_many(sentences)] == expected


def test_fast_align_learns_before_the_first_alignment_is_requested():
    steps = []
    FastAligner(FastAlign(iterations=4), progress=lambda *step: steps.append(step)).align_many(PAIRS)
    assert steps == [
        (f"learning {direction}", iteration, 3)
        for direction in ("forward", "reverse")
        for iteration in (1, 2, 3)
    ]


def test_fast_align_links_nothing_where_there_is_nothing_to_learn_from():
    found = list(FastAligner().align_many([("", "the hills"), ("", "")]))
    assert [alignment.shape for alignment in found] == [(0, 2), (0, 0)]
    assert not any(alignment.links for alignment in found)
    assert list(FastAligner().align_many([])) == []
    assert FastAligner(more=words(PAIRS)).align("", "hills").links == ()


def test_fast_align_aligns_one_pair_with_what_it_learns_from_others():
    more = [(["a", "b"], ["A", "B"]), (["a", "c"], ["A", "C"]), (["b", "c"], ["B", "C"])] * 5
    assert FastAligner(more=more).align(["c", "a"], ["A", "C"]).pairs == {(0, 1), (1, 0)}


def test_an_unknown_symmetrisation_is_named():
    with pytest.raises(ValueError, match=r"symmetrisation must be one of intersection, .*, got 'both'"):
        FastAligner(symmetrisation="both")  # type: ignore[arg-type]


def test_signatures_identify_what_made_the_links(encoder, tiny_model):
    methods: list[Method] = [
        SimAligner(encoder, SimAlign(IterMax(3), 0.5)),
        FastAligner(symmetrisation="union", more=words(PAIRS)),
        Aligner.load(tiny_model("bert"), layer=2, device="cpu"),
    ]
    similar, fast, transported = (method.signature for method in methods)
    assert similar == (
        f"method:simalign|encoder:{encoder.name}|layer:2|pairing:separate|centring:False|matching:itermax|"
        f"rounds:3|discount:0.9|distortion:0.5|null_threshold:1.0|version:{otalign.__version__}"
    )
    assert fast == (
        "method:fast-align|iterations:5|null_probability:0.08|alpha:0.01|tension:4.0|fit_tension:True|"
        f"symmetrisation:union|more_pairs:6|version:{otalign.__version__}"
    )
    assert transported.startswith(f"encoder:{encoder.name}|layer:2|")
