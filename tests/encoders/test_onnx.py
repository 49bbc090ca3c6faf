"""An exported encoder gives the embeddings of the original, without torch."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch

import otalign
from otalign.encoders import load
from otalign.encoders.export import export
from otalign.encoders.onnx import Onnx, _check_one_file
from otalign.encoders.restoration import restore
from otalign.encoders.transformers import Transformers
from otalign.text.words import join_words
from tests.encoders import tiny
from tests.encoders.test_transformers import PAIRS

KINDS = {
    "bert": 3,
    "mpnet": 2,
    "roberta": 0,
}  # each at another layer: the last, in the middle, the embeddings
each_kind = pytest.mark.parametrize("kind", KINDS)
each_pairing = pytest.mark.parametrize("pairing", ["joint", "separate"])


def long_pairs(limit: int):
    rng = np.random.default_rng(1)
    return [
        tuple(join_words(rng.choice(tiny.WORDS, size).tolist()) for size in sizes)
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
    states = (
        encoder.compute_states(ids, np.ones_like(ids), np.zeros_like(ids)) for encoder in (made, original)
    )
    np.testing.assert_allclose(*states, atol=1e-4)


def test_int8_is_smaller_and_close(tiny_model, exported):
    original = Transformers(str(tiny_model("bert")), KINDS["bert"], device="cpu")
    made = load(exported("bert", 3, int8=True))
    expected, found = (encoder.embed(PAIRS, "joint").vectors for encoder in (original, made))
    cosine = (expected * found).sum(1) / np.linalg.norm(expected, axis=1) / np.linalg.norm(found, axis=1)
    assert cosine.mean() > 0.99


def test_an_encoder_knows_whether_it_computes_in_int8(exported):
    assert [load(exported("bert", 3, int8)).int8 for int8 in (False, True)] == [False, True]


@each_pairing
@pytest.mark.parametrize("int8", [False, True])
def test_embeddings_do_not_depend_on_the_batch(exported, int8, pairing):
    made, pairs = load(exported("bert", 3, int8)), [*PAIRS, *long_pairs(60), *PAIRS]
    together = made.embed(pairs, pairing)
    alone = np.concatenate(
        [made.embed([pair], pairing).vectors for pair in pairs if any(pair[0].words + pair[1].words)]
    )
    np.testing.assert_array_equal(alone, together.vectors)


@pytest.mark.parametrize("int8", [False, True])
def test_an_exported_encoder_holds_no_path_of_the_machine_that_made_it(exported, int8):
    made = (exported("bert", 3, int8) / "encoder.onnx").read_bytes()
    assert b"stack_trace" not in made
    assert str(Path(otalign.__file__).parent).encode() not in made


def test_ranges_of_activations_are_constants_that_hold_what_was_observed(tiny_model, exported):
    import onnx

    from otalign.encoders.export import make_calibration_feeds
    from otalign.encoders.quantization import find_activations, fix_ranges, observe_ranges, quantize_weights

    original = Transformers(str(tiny_model("bert")), KINDS["bert"], device="cpu")
    graph = onnx.load(exported("bert", 3) / "encoder.onnx")
    dynamic = quantize_weights(graph)
    activations = find_activations(dynamic)
    ranges = observe_ranges(graph, activations, make_calibration_feeds(original))
    wider = observe_ranges(graph, activations, make_calibration_feeds(original, long_pairs(60)))
    for name, (low, high) in ranges.items():
        assert wider[name][0] <= low <= 0 <= high <= wider[name][1]
    operators = {node.op_type for node in fix_ranges(dynamic, ranges).graph.node}
    assert {"QuantizeLinear", "MatMulIntegerToFloat"} <= operators
    assert not {"DynamicQuantizeLinear", "MatMulInteger"} & operators  # products and their scales are fused


def test_aligning_with_an_exported_encoder_takes_no_torch_along(exported):
    code = (
        "import sys; from otalign.aligner import Aligner; "
        f"aligner = Aligner.load({str(exported('bert', 3))!r}, threads=1); "
        "assert aligner.align('He bought a used car.', 'He purchased a car.').links; print(*sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stderr == ""
    loaded = {name.partition(".")[0] for name in ran.stdout.split()}
    assert not loaded & {"torch", "transformers", "huggingface_hub", "onnx", "ot", "scipy"}


def test_what_is_no_exported_encoder_is_refused(exported, tmp_path):
    with pytest.raises(ValueError, match=r"no encoder\.onnx in .*otalign export"):
        Onnx(tmp_path)
    torn = Path(shutil.copytree(exported("bert", 3), tmp_path / "torn"))
    whole = (torn / "encoder.onnx").read_bytes()
    (torn / "encoder.onnx").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"encoder\.onnx is not a valid otalign encoder"):
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

    other = Path(shutil.copytree(exported("bert", 3), tmp_path / "other"))
    graph = onnx.load(other / "encoder.onnx")
    del graph.metadata_props[:]
    onnx.save(graph, other / "encoder.onnx")
    with pytest.raises(ValueError, match=r"encoder\.onnx is not a valid otalign encoder"):
        load(other)


def test_another_layer_or_device_than_was_exported_is_refused(exported):
    assert load(exported("bert", 3), 3, device="cpu").layer == 3
    with pytest.raises(ValueError, match=r"layer must be 3, at which .* was exported, got 1"):
        load(exported("bert", 3), 1)
    with pytest.raises(ValueError, match=r"device must be 'cpu' for the exported encoder .*, got 'cuda'"):
        load(exported("bert", 3), device="cuda")


def test_a_folder_that_is_in_use_is_not_written_to(tiny_model, tmp_path):
    original = Transformers(str(tiny_model("bert")), device="cpu")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "letter.txt").write_text("dear")
    with pytest.raises(ValueError, match="not empty; choose a new folder"):
        export(original, tmp_path / "taken")
    with pytest.raises(ValueError, match="is a file; choose a new folder"):
        export(original, tmp_path / "taken" / "letter.txt")
    assert [file.name for file in (tmp_path / "taken").iterdir()] == ["letter.txt"]


def test_what_is_not_the_original_is_not_written(tiny_model, exported, tmp_path, monkeypatch):
    def another(original, folder, int8, calibration):
        shutil.copytree(exported("bert", 3), folder, dirs_exist_ok=True)

    monkeypatch.setattr("otalign.encoders.export._write", another)
    original = Transformers(str(tiny_model("bert")), KINDS["bert"] - 1, device="cpu")
    with pytest.raises(ValueError, match=r"is too different: .* nothing was written"):
        export(original, tmp_path / "made")
    assert not list(tmp_path.iterdir())


def with_tensor(folder: Path, changed, to: Path) -> Path:
    """A copy of an exported folder in which something was done to the graph and one of its tensors."""
    import onnx

    made = Path(shutil.copytree(folder, to))
    graph = onnx.load(made / "encoder.onnx")
    tensor = next(one for one in graph.graph.initializer if one.data_type == onnx.TensorProto.FLOAT)
    changed(graph, tensor)
    (made / "encoder.onnx").write_bytes(graph.SerializeToString())
    return made


def test_a_model_with_tensors_in_other_files_is_refused(exported, tmp_path):
    def outside(_, tensor):
        (tmp_path / "data").write_bytes(tensor.raw_data)
        tensor.ClearField("raw_data")
        tensor.data_location = 1
        tensor.external_data.add(key="location", value="data")

    made = with_tensor(exported("bert", 3), outside, tmp_path / "made")
    shutil.move(tmp_path / "data", made / "data")
    with pytest.raises(
        ValueError, match=r"encoder\.onnx is not a valid otalign encoder: it has external data"
    ):
        load(made)


def test_a_length_in_more_bytes_than_it_takes_hides_no_other_file(tmp_path):
    for length in (b"\x08", b"\x88\x00", b"\x88\x80\x80\x00"):
        (tmp_path / "model").write_bytes(b"\x0a" + length + b"location")
        with pytest.raises(ValueError, match="external data"):
            _check_one_file(tmp_path / "model")


def test_a_location_that_is_a_mere_word_is_no_other_file(exported, tmp_path):
    def add_value(graph, _):
        graph.doc_string = "made in /home/allocation/location, a location"

    assert load(with_tensor(exported("bert", 3), add_value, tmp_path / "made")).layer == 3


def test_numbers_that_are_not_finite_are_an_error(exported, tmp_path):
    def spoil(_, tensor):
        tensor.raw_data = np.full(len(tensor.raw_data) // 4, np.nan, np.float32).tobytes()

    made = load(with_tensor(exported("bert", 3), spoil, tmp_path / "made"))
    with pytest.raises(
        ValueError, match=r"the encoder bert.* returns numbers that are not finite at layer 3"
    ):
        made.embed(PAIRS, "joint")


def test_a_graph_with_other_inputs_is_refused(exported, tmp_path):
    def rename(graph, _):
        graph.graph.input[0].name = "images"

    with pytest.raises(ValueError, match=r"encoder\.onnx is not a valid otalign encoder: "):
        load(with_tensor(exported("bert", 3), rename, tmp_path / "made"))


def test_a_graph_that_cannot_be_run_is_an_error_of_ours(exported):
    made = load(exported("bert", 3))
    ids = np.full((1, 4), 10**6)
    with pytest.raises(ValueError, match=r"encoder\.onnx cannot be run: .*") as raised:
        made.compute_states(ids, np.ones_like(ids), np.zeros_like(ids))
    assert "\n" not in str(raised.value)


def test_a_tokenizer_that_panics_is_an_error_of_ours(exported, tmp_path):
    made = Path(shutil.copytree(exported("bert", 3), tmp_path / "made"))
    data = json.loads((made / "tokenizer.json").read_text())
    data["post_processor"]["special_tokens"].pop("[SEP]")
    (made / "tokenizer.json").write_text(json.dumps(data))
    with pytest.raises(ValueError, match="tokenizer"):
        load(made)


@pytest.mark.parametrize("int8", [False, True])
@pytest.mark.parametrize("kind", ["bert", "mpnet", "roberta"])
def test_an_exported_encoder_can_be_restored_with_its_weights(tiny_model, exported, tmp_path, kind, int8):
    layer = max(KINDS[kind], 1)
    restore(exported(kind, layer, int8), tmp_path)
    original, restored = (
        Transformers(str(folder), layer, device="cpu", depth=layer).model.state_dict()
        for folder in (tiny_model(kind), tmp_path)
    )
    assert restored.keys() == original.keys()
    for name in original:
        if "pooler" not in name and "position_ids" not in name:
            span = float(original[name].max() - original[name].min())
            torch.testing.assert_close(restored[name], original[name], atol=span / 200 * int8 + 1e-6, rtol=0)


def test_an_encoder_exported_without_its_configuration_cannot_be_restored(exported, tmp_path):
    folder = tmp_path / "old"
    shutil.copytree(exported("bert", 3), folder)
    graph = onnx.load(folder / "encoder.onnx")
    onnx.helper.set_model_props(graph, {"name": "old"})
    onnx.save(graph, folder / "encoder.onnx")
    with pytest.raises(ValueError, match="export it again, or give the encoder that was exported"):
        restore(folder, tmp_path / "restored")
