"""An exported encoder gives the embeddings of the original, and takes no torch along."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from otalign.encoders import load
from otalign.encoders.export import export
from otalign.encoders.onnx import Onnx
from otalign.encoders.transformers import Transformers
from otalign.words import joined

from . import tiny
from .test_transformers import PAIRS

KINDS = {
    "bert": 2,
    "mpnet": 3,
    "roberta": 0,
}  # each at another layer: in the middle, the last, the embeddings
each_kind = pytest.mark.parametrize("kind", KINDS)
each_pairing = pytest.mark.parametrize("pairing", ["joint", "separate"])


def long_pairs(limit: int):
    rng = np.random.default_rng(1)
    return [
        tuple(joined(rng.choice(tiny.WORDS, size).tolist()) for size in sizes)
        for sizes in [(1, 1), (limit // 3, limit // 3), (limit - 10, 7), (3, 150), (120, 90)]
    ]


@each_pairing
@each_kind
def test_an_exported_encoder_gives_the_same_embeddings_for_all_shapes(tiny_model, exported, kind, pairing):
    original = Transformers(str(tiny_model(kind)), KINDS[kind], device="cpu")
    made = load(exported(kind, KINDS[kind]))
    for pairs in (PAIRS, PAIRS[2:3], long_pairs(original.limit)):
        expected, found = (encoder.embed(pairs, pairing) for encoder in (original, made))
        np.testing.assert_array_equal(found.starts, expected.starts)
        np.testing.assert_allclose(found.vectors, expected.vectors, atol=1e-4)


@each_kind
def test_an_exported_encoder_says_what_it_is_and_takes_inputs_up_to_its_limit(tiny_model, exported, kind):
    original, made = (
        Transformers(str(tiny_model(kind)), KINDS[kind], device="cpu"),
        Onnx(exported(kind, KINDS[kind])),
    )
    for name in ("name", "layer", "limit", "pad"):
        assert getattr(made, name) == getattr(original, name)
    assert set(made.inputs) <= set(original.inputs)
    ids = np.full((1, made.limit), 7)
    states = (encoder.hidden(ids, np.ones_like(ids), np.zeros_like(ids)) for encoder in (made, original))
    np.testing.assert_allclose(*states, atol=1e-4)


def test_int8_is_smaller_and_close(tiny_model, exported):
    original = Transformers(str(tiny_model("bert")), KINDS["bert"], device="cpu")
    made = load(exported("bert", 2, int8=True))
    expected, found = (encoder.embed(PAIRS, "joint").vectors for encoder in (original, made))
    cosine = (expected * found).sum(1) / np.linalg.norm(expected, axis=1) / np.linalg.norm(found, axis=1)
    assert cosine.mean() > 0.99


@each_pairing
@pytest.mark.parametrize("int8", [False, True])
def test_embeddings_do_not_depend_on_the_batch(exported, int8, pairing):
    made, pairs = load(exported("bert", 2, int8)), [*PAIRS, *long_pairs(60), *PAIRS]
    together = made.embed(pairs, pairing)
    alone = np.concatenate(
        [made.embed([pair], pairing).vectors for pair in pairs if any(pair[0].words + pair[1].words)]
    )
    np.testing.assert_array_equal(alone, together.vectors)


def test_ranges_of_activations_are_constants_that_hold_what_was_observed(tiny_model):
    from otalign.encoders.export import calibration_feeds, make_graph
    from otalign.encoders.quantization import find_activations, fix_ranges, observe_ranges, quantize_weights

    original = Transformers(str(tiny_model("bert")), KINDS["bert"], device="cpu")
    graph = make_graph(original)
    dynamic = quantize_weights(graph)
    activations = find_activations(dynamic)
    ranges = observe_ranges(graph, activations, calibration_feeds(original))
    wider = observe_ranges(graph, activations, calibration_feeds(original, long_pairs(60)))
    for name, (low, high) in ranges.items():
        assert wider[name][0] <= low <= 0 <= high <= wider[name][1]
    operators = {node.op_type for node in fix_ranges(dynamic, ranges).graph.node}
    assert "QuantizeLinear" in operators
    assert "DynamicQuantizeLinear" not in operators


def test_aligning_with_an_exported_encoder_takes_no_torch_along(exported):
    code = (
        "import sys; from otalign.aligner import Aligner; "
        f"aligner = Aligner.load({str(exported('bert', 2))!r}, threads=1); "
        "assert aligner.align('He bought a used car.', 'He purchased a car.').links; print(*sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stderr == ""
    loaded = {name.partition(".")[0] for name in ran.stdout.split()}
    assert not loaded & {"torch", "transformers", "huggingface_hub", "onnx", "ot", "scipy"}


def test_what_is_no_exported_encoder_is_refused(exported, tmp_path):
    with pytest.raises(ValueError, match=r"no encoder\.onnx in .*otalign export"):
        Onnx(tmp_path)
    torn = Path(shutil.copytree(exported("bert", 2), tmp_path / "torn"))
    whole = (torn / "encoder.onnx").read_bytes()
    (torn / "encoder.onnx").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"encoder\.onnx is no encoder of otalign"):
        load(torn)
    (torn / "encoder.onnx").write_bytes(whole)
    (torn / "tokenizer.json").write_text("{}")
    with pytest.raises(ValueError, match=r"tokenizer\.json cannot be read"):
        load(torn)
    (torn / "tokenizer.json").unlink()
    with pytest.raises(ValueError, match=r"no tokenizer\.json in .*otalign export"):
        load(torn)


def test_a_graph_without_what_export_says_of_it_is_refused(exported, tmp_path):
    import onnx

    other = Path(shutil.copytree(exported("bert", 2), tmp_path / "other"))
    graph = onnx.load(other / "encoder.onnx")
    del graph.metadata_props[:]
    onnx.save(graph, other / "encoder.onnx")
    with pytest.raises(ValueError, match=r"encoder\.onnx is no encoder of otalign"):
        load(other)


def test_another_layer_or_device_than_was_exported_is_refused(exported):
    assert load(exported("bert", 2), 2, device="cpu").layer == 2
    with pytest.raises(ValueError, match=r"layer must be 2, at which .* was exported, got 1"):
        load(exported("bert", 2), 1)
    with pytest.raises(ValueError, match=r"device must be 'cpu' for the exported encoder .*, got 'cuda'"):
        load(exported("bert", 2), device="cuda")


def test_a_folder_that_is_in_use_is_not_written_to(tiny_model, tmp_path):
    original = Transformers(str(tiny_model("bert")), device="cpu")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "letter.txt").write_text("dear")
    with pytest.raises(ValueError, match="not empty; give a new folder"):
        export(original, tmp_path / "taken")
    with pytest.raises(ValueError, match="is a file; give a new folder"):
        export(original, tmp_path / "taken" / "letter.txt")
    assert [file.name for file in (tmp_path / "taken").iterdir()] == ["letter.txt"]


def test_what_is_not_the_original_is_not_written(tiny_model, exported, tmp_path, monkeypatch):
    def another(original, folder, int8, calibration):
        shutil.copytree(exported("bert", 2), folder, dirs_exist_ok=True)

    monkeypatch.setattr("otalign.encoders.export._write", another)
    original = Transformers(str(tiny_model("bert")), KINDS["bert"] - 1, device="cpu")
    with pytest.raises(ValueError, match=r"is not the original .* nothing was written"):
        export(original, tmp_path / "made")
    assert not list(tmp_path.iterdir())
