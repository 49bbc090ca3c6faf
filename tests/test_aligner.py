"""The aligner from text to links: comparison with a reference implementation, and laws."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from functools import cache
from itertools import count, islice, product
from typing import get_args

import numpy as np
import pytest

import otalign
from otalign.aligner import Aligner
from otalign.alignment import Alignment
from otalign.encoders import chunks as module
from otalign.encoders import load
from otalign.encoders import prefetch as ahead
from otalign.encoders import whitening as centring
from otalign.ot import Balanced, Entropic, Exact, Partial, Unbalanced
from otalign.settings import Cost, Fertility, Settings
from otalign.text.words import Sentence, split, tokenize
from tests import reference_aligner
from tests.encoders import tiny


def draw_texts(*sizes: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng([seed, *sizes])
    return [" ".join(rng.choice(tiny.WORDS, size)) for size in sizes]


def drawn_pairs(number: int, longest: int = 12, seed: int = 0) -> list[tuple[Sentence, Sentence]]:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, longest + 1, (number, 2)).tolist()
    pairs = (draw_texts(*size, seed=k) for k, size in enumerate(sizes))
    return [(split(source), split(target)) for source, target in pairs]


PAIRS = [
    *drawn_pairs(8),
    (split("he bought it"), split("he bought it")),
    (split("car"), split("the old car")),
]


@pytest.fixture(scope="session")
def bert(tiny_model):
    return tiny_model("bert")


@pytest.fixture(scope="session")
def aligner(bert) -> Aligner:
    """Return an aligner with a fixed mean, so that links do not depend on the other pairs."""
    return Aligner.load(bert, layer=2, device="cpu").fit_centre(PAIRS)


def close(found: Alignment, expected: Alignment):
    """Compare links up to the rounding of float32 sums, whose order may depend on the batch."""
    assert found.pairs == expected.pairs
    assert (found.source, found.target) == (expected.source, expected.target)
    assert (found.source_spans, found.target_spans) == (expected.source_spans, expected.target_spans)
    for one, other in zip(found.links, expected.links, strict=True):
        assert one.weight == pytest.approx(other.weight, abs=2e-3)
    for side in ("source_null_confidence", "target_null_confidence"):
        assert getattr(found, side) == pytest.approx(getattr(expected, side), abs=2e-3)


COSTS, FERTILITIES = get_args(Cost), get_args(Fertility)
PROBLEMS = {"bot": Balanced(), "pot": Partial(0.7), "uot": Unbalanced(0.5), "none": None}
SOLVERS = {"entropic": Entropic(), "exact": Exact(tol=1e-7)}
SOLVED = [(problem, solver) for problem in PROBLEMS for solver in SOLVERS if problem != "none"]


@pytest.mark.parametrize(
    ("pairing", "centring"), [("joint", True), ("separate", False)], ids=["joint, centred", "separate"]
)
@pytest.mark.parametrize(("problem", "solver"), [*SOLVED, ("none", "entropic")])
def test_links_are_those_of_the_plain_implementation(bert, problem, solver, pairing, centring):
    encoder = load_encoder(bert)
    # If the same words occur twice, several plans are optimal; and exact unbalanced plans take long.
    pairs = PAIRS if solver == "entropic" else PAIRS[: 2 if problem == "uot" else 5]
    # Majorisation, with which POT minimises this, converges slowly and is stopped early.
    near = 2e-3 if (problem, solver) == ("uot", "exact") else 2e-4
    embedded = encoder.embed(pairs, pairing)
    centre = embedded.vectors.astype(float).mean(axis=0) if centring else 0.0
    for cost, fertility in product(COSTS, FERTILITIES):
        settings = Settings(
            encoder="tiny",
            layer=2,
            pairing=pairing,
            centring=centring,
            cost=cost,
            fertility=fertility,
            problem=PROBLEMS[problem],
            solver=SOLVERS[solver],
            smoothing=0.2 if centring else 0.0,
            order=0.2 if cost == "cosine" and centring else 0.0,
            structure=0.2 if cost == "euclidean" and centring else 0.0,
            mutuality=0.8 if cost == "cosine" else 0.0,
            completion=0.0 if fertility == "norm" else 0.5,
            whitening=0.0,  # which has its own tests
        )
        for k, found in enumerate(Aligner(encoder, settings).align_many(pairs)):
            X, Y = (np.asarray(embedded[2 * k + side], dtype=float) - centre for side in (0, 1))
            weights = reference_aligner.score_links(X, Y, (found.source, found.target), settings)
            above = {tuple(cell) for cell in np.argwhere(weights > settings.threshold).tolist()}
            unsure = {tuple(cell) for cell in np.argwhere(abs(weights - settings.threshold) < near).tolist()}
            case = f"pair {k}, cost {cost}, fertility {fertility}"
            assert found.pairs - unsure == above - unsure, case
            for i, j, weight in found.links:
                assert weight == pytest.approx(weights[i, j], abs=near), case
            assert found.source_null_confidence == pytest.approx(1 - weights.max(axis=1), abs=near), case
            assert found.target_null_confidence == pytest.approx(1 - weights.max(axis=0), abs=near), case


@cache
def load_encoder(folder, layer: int = 2):
    return load(folder, layer, device="cpu")


def make_aligner(folder, layer: int = 2, **options) -> Aligner:
    """Return what `Aligner.load` returns, without loading the encoder again."""
    encoder = load_encoder(folder, layer)
    settings = Settings(encoder=encoder.name, layer=layer).apply_options(options, encoder.name)
    return Aligner(encoder, settings)


def each_as_words(sentence: str) -> Iterator:
    yield sentence
    yield sentence.split()
    yield tuple(sentence.split())
    yield split(sentence)


def test_words_and_their_text_get_the_same_links(aligner):
    source, target = "he bought a used car", "he purchased the old car yesterday"
    expected = aligner.align(source, target)
    for one, other in zip(each_as_words(source), each_as_words(target), strict=True):
        assert aligner.align(one, other) == expected


def test_spans_are_where_the_words_stand_in_the_text(aligner):
    texts = "He can't  buy it, can he?", "\tNo — he cannot! "
    alignment = aligner.align(*texts)
    sides = (alignment.source, alignment.source_spans), (alignment.target, alignment.target_spans)
    for text, (words, spans) in zip(texts, sides, strict=True):
        assert tuple(text[start:end] for start, end in spans) == words == tokenize(text).words


def test_alignments_come_in_order_and_are_those_of_one_pair_at_a_time(aligner, monkeypatch):
    pairs = drawn_pairs(60, seed=1)
    pairs[7:7] = [(split(""), split("car")), (split(""), split(""))]
    one_by_one = [aligner.align(*pair) for pair in pairs]
    for chunk in (1, 7, 1024):
        monkeypatch.setattr(module, "CHUNK_PAIRS", chunk)
        for found, expected in zip(aligner.align_many(pairs), one_by_one, strict=True):
            close(found, expected)


def test_workers_that_tokenise_ahead_change_nothing(aligner, monkeypatch):
    monkeypatch.setattr(ahead, "TASK_PAIRS", 5)
    monkeypatch.setattr(module, "CHUNK_WORDS", 100)
    pairs = [("", "the car"), *((" ".join(s.words), " ".join(t.words)) for s, t in drawn_pairs(40, seed=2))]
    for found, expected in zip(aligner.align_many(pairs, workers=1), aligner.align_many(pairs), strict=True):
        close(found, expected)


def test_workers_do_not_run_the_script_that_asks_for_them(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "print('run')\n"
        "from otalign import Aligner\n"
        "from otalign.encoders import prefetch\n"
        "prefetch.TASK_PAIRS = 1\n"
        "for found in Aligner.load().align_many([('A dog', 'A dog')] * 4, workers=2):\n"
        "    print(found.pharaoh())\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["run", *["0-0 1-1"] * 4]


def test_alignments_are_as_if_they_had_been_checked(aligner):
    for found in aligner.align_many(PAIRS):
        assert found == Alignment(*(getattr(found, field.name) for field in fields(found)))


def test_embeddings_of_a_model_in_half_precision_are_float32_and_similar(bert):
    exact, rough = (
        Aligner.load(bert, layer=2, device="cpu", precision=precision).encoder.embed(PAIRS, "joint").vectors
        for precision in ("float32", "bfloat16")
    )
    assert rough.dtype == np.float32
    np.testing.assert_allclose(rough, exact, atol=0.05 * abs(exact).max())
    assert (rough != exact).any()
    with pytest.raises(ValueError, match="precision must be 'float32' or 'bfloat16', got 'int4'"):
        Aligner.load(bert, layer=2, device="cpu", precision="int4")  # pyright: ignore[reportArgumentType]


def test_an_answer_comes_after_one_chunk_of_a_stream_without_end(aligner, monkeypatch):
    monkeypatch.setattr(module, "CHUNK_PAIRS", 5)
    taken = count()
    stream = ((f"car {next(taken)}", "the car") for _ in count())
    alignments = aligner.align_many(stream)
    assert next(taken) == 0, "nothing is taken before it is asked for"
    assert [next(alignments).source[1] for _ in range(3)] == ["1", "2", "3"]
    assert next(taken) == 6
    assert len(list(islice(alignments, 40))) == 40
    assert next(taken) <= 51


def test_a_chunk_holds_only_so_many_words(aligner, monkeypatch):
    monkeypatch.setattr(module, "CHUNK_WORDS", 100)
    seen = []
    embed = aligner.encoder.embed
    monkeypatch.setattr(
        aligner.encoder, "embed", lambda pairs, pairing: seen.append(pairs) or embed(pairs, pairing)
    )
    assert len(list(aligner.align_many((*draw_texts(20, 20, seed=k),) for k in range(10)))) == 10
    assert [len(pairs) for pairs in seen] == [3, 3, 3, 1]


def test_a_stream_is_centred_on_its_first_words(bert, monkeypatch):
    monkeypatch.setattr(module, "CHUNK_PAIRS", 2)
    monkeypatch.setattr(centring, "WORDS", 40)
    pairs = [tuple(map(split, draw_texts(6, 6, seed=k))) for k in range(9)]
    plain = make_aligner(bert)
    taken = []
    stream = plain.align_many(taken.append(pair) or pair for pair in pairs)
    found = [next(stream)]
    assert len(taken) == 4, "24 words a chunk: two chunks"
    found += stream
    kept = plain.fit_centre(pairs[:4])
    for one, other in zip(found, kept.align_many(pairs), strict=True):
        close(one, other)


def test_the_mean_is_that_of_all_words(bert):
    plain = make_aligner(bert)
    vectors = plain.encoder.embed(PAIRS, "joint").vectors
    np.testing.assert_allclose(
        plain.fit_centre(PAIRS).centre.mean, vectors.astype(float).mean(axis=0), atol=1e-12
    )


def test_without_a_centre_the_given_pairs_are_centred_on_their_mean(bert):
    plain = make_aligner(bert)
    together = list(plain.align_many(PAIRS))
    for found, expected in zip(plain.fit_centre(PAIRS).align_many(PAIRS), together, strict=True):
        close(found, expected)
    close(plain.align(*PAIRS[0]), plain.fit_centre(PAIRS[:1]).align(*PAIRS[0]))


def test_a_mean_of_no_words_is_refused(bert):
    with pytest.raises(ValueError, match="pairs must have words"):
        Aligner.load(bert, device="cpu").fit_centre([("", "")])


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_pair_with_an_empty_side_is_all_nulls(bert, problem):
    aligner = make_aligner(bert, problem=PROBLEMS[problem])
    for source, target in [("", "the old car"), ("rain fell", ""), ("", ""), ([], ["", ""])]:
        alignment = aligner.align(source, target)
        assert alignment.links == ()
        for confidences in (alignment.source_null_confidence, alignment.target_null_confidence):
            assert set(confidences) <= {1.0}
    assert aligner.align([], ["", ""]).target_nulls == (0, 1)


@pytest.mark.parametrize("fertility", FERTILITIES)
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("problem", [Balanced(), Partial(0.9), Partial(1), Unbalanced(0.8), None], ids=repr)
def test_a_pair_of_single_words_is_linked(bert, problem, cost, fertility):
    aligner = make_aligner(bert, problem=problem, cost=cost, fertility=fertility)
    for source, target in [("car", "house"), ("car", "car")]:
        for pairing in ("joint", "separate"):
            changed = Aligner(aligner.encoder, aligner.settings.replace(pairing=pairing))
            assert [link[:2] for link in changed.align(source, target).links] == [(0, 0)]


@pytest.mark.parametrize("m", [2, 3, 5, 7, 30])
def test_one_word_that_must_take_all_is_linked_to_all(bert, m):
    """A balanced plan of one row is its masses, which are all equal; rounding must not choose among them."""
    aligner = make_aligner(bert, problem=Balanced())
    for seed in range(5):
        one, many = (text.split() for text in draw_texts(1, m, seed=seed))
        assert aligner.align(one, many).pairs == {(0, j) for j in range(m)}
        assert aligner.align(many, one).pairs == {(j, 0) for j in range(m)}


@pytest.mark.parametrize("cost", COSTS)
def test_words_that_are_all_the_same_are_linked_in_order(tiny_model, cost):
    """T5 has no positions at layer 0: all words have one vector, and only distortion distinguishes them."""
    for size in (2, 3, 9, 17):
        words = ["car"] * size
        aligner = make_aligner(tiny_model("t5"), layer=0, cost=cost, centring=False, problem=None)
        assert {(k, k) for k in range(size)} <= aligner.align(words, words).pairs
        assert (0, size - 1) not in aligner.align(words, words).pairs
        flat = Aligner(aligner.encoder, aligner.settings.replace(distortion=0, smoothing=0))
        assert len(flat.align(words, words).links) == size * size


@pytest.mark.parametrize("problem", PROBLEMS)
def test_swapping_the_sentences_transposes_the_alignment(bert, problem):
    options = {"problem": PROBLEMS[problem], "solver": Entropic(tol=1e-6)}
    aligner = make_aligner(bert, pairing="separate", fertility="norm", **options)
    swapped = aligner.align_many([(target, source) for source, target in PAIRS])
    for found, transposed in zip(aligner.align_many(PAIRS), swapped, strict=True):
        assert {(j, i) for i, j in found.pairs} == transposed.pairs
        assert found.source_null_confidence == pytest.approx(transposed.target_null_confidence, abs=1e-4)


def test_many_threads_share_one_aligner(aligner):
    pairs = drawn_pairs(24, seed=2)
    expected = [aligner.align(*pair) for pair in pairs]
    with ThreadPoolExecutor(8) as pool:
        for found, one in zip(
            pool.map(lambda pair: aligner.align(*pair), pairs * 2), expected * 2, strict=True
        ):
            close(found, one)


@pytest.mark.parametrize("pairing", ["joint", "separate"])
def test_a_very_long_pair_is_aligned_completely(tiny_model, pairing):
    """Repeated word for word, every word finds itself: in the middle and at the end as at the start."""
    aligner = Aligner.load(
        tiny_model("bert"), layer=1, device="cpu", pairing=pairing, problem=None, threshold=0.9
    )
    (text,) = draw_texts(2000)
    alignment = aligner.align(text.split(), text.split())
    assert alignment.shape == (2000, 2000)
    assert len(alignment.source_null_confidence) == len(alignment.target_null_confidence) == 2000
    if pairing == "separate":
        assert {(k, k) for k in range(2000)} <= alignment.pairs


def test_zero_vectors_are_aligned_like_any_others(bert, monkeypatch):
    """A vector equal to the mean has norm 0 and thus no mass; a side of such vectors causes no error."""
    encoder = load_encoder(bert)
    embedded = encoder.embed([(split("car"), split("the house"))], "joint")
    embedded.vectors[0] = 0
    monkeypatch.setattr(encoder, "embed", lambda pairs, pairing: embedded)
    for problem, solver, cost in product(PROBLEMS.values(), SOLVERS.values(), COSTS):
        settings = Settings(
            encoder="", layer=2, centring=False, fertility="norm", problem=problem, solver=solver, cost=cost
        )
        alignment = Aligner(encoder, settings).align("car", "the house")
        assert alignment.shape == (1, 2)


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_embeddings_in_torch_are_aligned_as_those_in_numpy(bert, problem, cost):
    """As from an encoder on a GPU."""
    import torch

    fertility = "norm" if cost == "cosine" else "length"
    options = {"problem": PROBLEMS[problem], "cost": cost, "fertility": fertility}
    settings = Settings(encoder="", layer=2, centring=problem != "uot", **options)
    encoder, lent = (load(bert, 2, device="cpu") for _ in range(2))
    compute_states = lent.compute_states
    lent.compute_states = lambda *arrays: torch.from_numpy(compute_states(*arrays))
    pairs = [*PAIRS, (split(""), split("car"))]
    expected, found = (Aligner(one, settings) for one in (encoder, lent))
    for one, other in zip(found.align_many(pairs), expected.align_many(pairs), strict=True):
        close(one, other)
    np.testing.assert_allclose(
        found.fit_centre(pairs).centre.mean, expected.fit_centre(pairs).centre.mean, atol=1e-7
    )


# Folders


def alike(one: Aligner, other: Aligner):
    assert other.settings == one.settings
    assert other.signature == one.signature
    for found, expected in zip(other.align_many(PAIRS), one.align_many(PAIRS), strict=True):
        assert found == expected


def test_a_saved_aligner_aligns_as_before_without_the_folder_it_came_from(bert, aligner, tmp_path):
    elsewhere = shutil.copytree(bert, tmp_path / "model")
    made = Aligner.load(
        elsewhere, layer=1, device="cpu", pairing="separate", problem=Partial(0.8), threshold=0.25
    ).fit_centre(PAIRS)
    expected = list(made.align_many(PAIRS))
    made.save(tmp_path / "saved" / "here")
    shutil.rmtree(elsewhere)
    again = Aligner.load(tmp_path / "saved" / "here", device="cpu")
    np.testing.assert_array_equal(again.centre.mean, made.centre.mean.astype(np.float32))
    assert again.settings == made.settings
    assert list(again.align_many(PAIRS)) == expected
    data = json.loads((tmp_path / "saved" / "here" / "otalign.json").read_text(encoding="utf-8"))
    assert data["version"] == otalign.__version__


def test_a_saved_aligner_over_an_exported_encoder_aligns_as_before(exported, tmp_path):
    made = Aligner.load(exported("bert", 3), problem=Balanced()).fit_centre(PAIRS)
    for _ in range(2):  # over itself, too
        made.save(tmp_path / "saved")
        alike(made, again := Aligner.load(tmp_path / "saved"))
        made = again
    assert sorted(file.name for file in (tmp_path / "saved").iterdir()) == [
        "encoder.onnx",
        "mean.npy",
        "otalign.json",
        "stretch.npy",
        "tokenizer.json",
    ]


def test_an_aligner_can_be_saved_where_it_was_loaded_from(bert, tmp_path):
    folder = shutil.copytree(bert, tmp_path / "model")
    made = Aligner.load(folder, layer=2, device="cpu")
    made.save(folder)
    kept = Aligner.load(folder, device="cpu").fit_centre(PAIRS)
    kept.save(folder)
    alike(kept, Aligner.load(folder, device="cpu"))


def test_no_mean_of_an_older_aligner_stays_behind(aligner, tmp_path):
    aligner.save(tmp_path)
    Aligner(aligner.encoder, aligner.settings).save(tmp_path)
    assert Aligner.load(tmp_path, device="cpu").centre is None


def test_an_aligner_is_not_saved_beside_an_encoder_that_would_be_loaded_instead(aligner, tmp_path):
    (tmp_path / "encoder.onnx").touch()
    with pytest.raises(ValueError, match="holds another encoder"):
        aligner.save(tmp_path)


def test_settings_that_are_given_go_before_those_that_are_saved(aligner, tmp_path):
    aligner.save(tmp_path)
    changed = Aligner.load(tmp_path, device="cpu", threshold=0.7, cost="euclidean")
    assert changed.settings == aligner.settings.replace(threshold=0.7, cost="euclidean")
    np.testing.assert_array_equal(changed.centre.mean, aligner.centre.mean.astype(np.float32))
    other = Aligner.load(tmp_path, device="cpu", problem=Balanced())
    assert other.settings.threshold == Settings(encoder="", layer=0, problem=Balanced()).threshold


@pytest.mark.parametrize("changes", [{"layer": 1}, {"pairing": "separate"}, {"centring": False}], ids=str)
def test_a_mean_that_is_of_other_embeddings_is_not_taken(aligner, tmp_path, changes):
    aligner.save(tmp_path)
    assert Aligner.load(tmp_path, device="cpu", **changes).centre is None


def test_an_aligner_that_does_not_centre_does_not_use_a_mean(bert, aligner):
    without = Aligner.load(bert, layer=2, device="cpu", centring=False)
    for found, expected in zip(
        without.fit_centre(PAIRS).align_many(PAIRS), without.align_many(PAIRS), strict=True
    ):
        assert found == expected


WRONG = [
    *("", "[]", "{", '{"layer": 1}', '{"encoder": "x", "layer": 1, "colour": 2}'),
    *('{"encoder": 5, "layer": 1}', '{"encoder": "x", "layer": "1"}', '{"encoder": "x", "layer": NaN}'),
    '{"encoder": "x", "layer": 1, "trained": []}',
    '{"encoder": "x", "layer": 1, "threshold": NaN}',
    '{"encoder": "x", "layer": 1, "pairing": ["joint"]}',
    '{"encoder": "x", "layer": 1, "problem": {"name": ["pot"]}}',
    '{"encoder": "x", "layer": 1, "problem": {"name": "learned", "sure": NaN}}',
    '{"encoder": "x", "layer": 1, "solver": {"name": "entropic", "max_iterations": NaN}}',
    '{"a":' * 100_000 + "1" + "}" * 100_000,
]


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_settings_that_save_did_not_write_are_refused(tmp_path, text):
    (tmp_path / "otalign.json").write_text(text)
    with pytest.raises(ValueError, match=r"otalign\.json is not a valid file of settings"):
        Aligner.load(tmp_path)


@pytest.mark.parametrize("name", ["mean.npy", "stretch.npy"])
@pytest.mark.parametrize(
    "write",
    [
        lambda file: np.save(file, np.ones((3, 3, 3), dtype=np.float32)),
        lambda file: np.save(file, np.ones(5)),
        lambda file: np.save(file, np.full_like(np.load(file), np.nan)),
        lambda file: np.save(file, np.array([print], dtype=object), allow_pickle=True),
        lambda file: file.write_bytes(file.read_bytes()[:100]),
        lambda file: file.write_bytes(b""),
        lambda file: file.write_bytes(file.read_bytes().replace(b"(16,", b"(9" + 9 * b"9" + b",", 1)),
    ],
    ids=["shape", "size", "nan", "pickle", "torn", "empty", "huge"],
)
def test_a_centre_that_does_not_fit_is_refused(aligner, tmp_path, name, write):
    aligner.save(tmp_path)
    write(tmp_path / name)
    with pytest.raises(ValueError, match=rf"{name} ") as raised:
        Aligner.load(tmp_path, device="cpu")
    assert "\n" not in str(raised.value)


def test_a_setting_that_there_is_not_is_refused(bert):
    with pytest.raises(TypeError, match="colour"):
        Aligner.load(bert, device="cpu", colour="red")


def test_the_signature_says_all_that_is_needed(aligner):
    assert aligner.signature == (
        f"encoder:{aligner.encoder.name}|layer:2|pairing:joint|centring:True|whitening:0.5|cost:cosine|"
        "smoothing:0.15|distortion:0.2|fertility:uniform|problem:pot|fraction:1.0|solver:entropic|eps:0.1|"
        f"tol:0.001|max_iterations:1000|threshold:0.34|version:{otalign.__version__}"
    )
