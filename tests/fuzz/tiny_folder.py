"""Folders of the smallest possible aligners, made in milliseconds and without torch."""

from pathlib import Path

import numpy as np

from otalign import Aligner, Settings
from otalign.encoders import EXPORTED
from otalign.encoders.onnx import TOKENIZER, Onnx
from otalign.settings import Learned, LearnedSettings
from tests.encoders.tiny import wordpiece
from tests.scoring.random_heads import make_transport_head

SIZE = 4  # of an embedding


def make_encoder(folder: Path) -> Onnx:
    """Make an encoder that looks up a vector for each subword and adds its type to it."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    tokenizer = wordpiece()
    vectors = np.random.default_rng(0).normal(size=(tokenizer.get_vocab_size(), SIZE)).astype(np.float32)
    names = ("input_ids", "token_type_ids")
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["vectors", "input_ids"], ["found"]),
            helper.make_node("Cast", ["token_type_ids"], ["types"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["types", "last"], ["shift"]),
            helper.make_node("Add", ["found", "shift"], ["states"]),
        ],
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in names],
        [helper.make_tensor_value_info("states", TensorProto.FLOAT, ["batch", "length", SIZE])],
        [numpy_helper.from_array(vectors, "vectors"), numpy_helper.from_array(np.array([-1]), "last")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, {"name": "tiny", "layer": "2", "limit": "64", "pad": "0"})
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / EXPORTED)
    tokenizer.save(str(folder / TOKENIZER))
    return Onnx(folder, threads=1)


def make_trained(folder: Path) -> Aligner:
    """Make an aligner with a learned transport, and save it."""
    settings = LearnedSettings(encoder="tiny", layer=2, problem=Learned(0.4, 0.3), trained="on nothing")
    aligner = Aligner(make_encoder(folder), settings, head=make_transport_head(size=SIZE))
    aligner.save(folder)
    return aligner


def make_untrained(folder: Path) -> Aligner:
    """Make an aligner that transports the encoder's embeddings around a centre that it keeps, and save it."""
    aligner = Aligner(make_encoder(folder), Settings(encoder="tiny", layer=2))
    aligner = aligner.fit_centre([("the big house", "a small house"), ("he bought a car", "she sold it")])
    aligner.save(folder)
    return aligner
