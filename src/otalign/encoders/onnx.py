"""An encoder as `otalign export` writes it, run by onnxruntime and tokenizers alone, without torch.

The folder holds `encoder.onnx`, which also says its name, layer, limit and padding, and `tokenizer.json`.
"""

import os
from mmap import ACCESS_READ, mmap
from pathlib import Path
from shutil import copyfile
from typing import Any

import numpy as np

from otalign.encoders.encoder import INPUTS, Encoder
from otalign.encoders.subwords import Subworder
from otalign.failures import describe

MODEL, TOKENIZER = "encoder.onnx", "tokenizer.json"
BATCH = 512  # subwords: more are no faster, and threads that take batches in turn end further apart
SLOWER = ["SkipLayerNormFusion"]  # a sum and a norm in one take a CPU longer than one after the other


class Onnx(Encoder):
    """The encoder in a folder. Its layer was chosen when it was exported.

    Only inputs of the same length share a batch. Without padding, each input takes the same arithmetic steps
    alone and in any batch, so that its embeddings are the same to the last bit.
    """

    padding = False

    def __init__(self, folder: str | Path, *, threads: int | None = None, batch_size: int | None = None):
        import onnxruntime
        from tokenizers import Tokenizer

        self.folder = Path(folder)
        for part in (MODEL, TOKENIZER):
            if not (self.folder / part).is_file():
                raise ValueError(f"there is no {part} in {folder}; make the folder with 'otalign export'")
        options: Any = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        # Batches side by side on a thread each are faster than each batch shared among all threads.
        options.intra_op_num_threads = 1
        self.at_once = threads or processors()
        try:
            _check_one_file(self.folder / MODEL)
            self.session = onnxruntime.InferenceSession(
                self.folder / MODEL, options, providers=["CPUExecutionProvider"], disabled_optimizers=SLOWER
            )
            said = self.session.get_modelmeta().custom_metadata_map
            about = said["name"], int(said["layer"]), int(said["limit"]), int(said["pad"])
            self.inputs, self.size = _interface(self.session)
        except Exception as error:
            raise ValueError(
                f"{self.folder / MODEL} is no encoder of otalign: {describe(error, brief=True)}"
            ) from error
        try:
            tokenizer = Tokenizer.from_file(str(self.folder / TOKENIZER))
        except Exception as error:  # tokenizers raises no more special ones
            raise ValueError(f"{self.folder / TOKENIZER} cannot be read: {error}") from error
        super().__init__(*about, Subworder(tokenizer), BATCH if batch_size is None else batch_size)

    def hidden(self, ids: np.ndarray, mask: np.ndarray, types: np.ndarray) -> np.ndarray:
        given = dict[str, np.ndarray](zip(INPUTS, (ids, mask, types), strict=True))
        try:
            (made,) = self.session.run(None, {name: given[name] for name in self.inputs})
        except Exception as error:  # onnxruntime has its own, which are no ValueError
            raise ValueError(f"{self.folder / MODEL} cannot be run: {describe(error, brief=True)}") from error
        states = np.asarray(made)
        if states.shape[:-1] != ids.shape:
            raise ValueError(
                f"{self.folder / MODEL} made {states.shape} of {ids.shape} subwords; export it anew"
            )
        return states

    def files(self) -> list[Path]:
        return [self.folder / part for part in (MODEL, TOKENIZER)]

    def save(self, folder: Path) -> None:
        if folder.resolve() != self.folder.resolve():
            for part in self.files():
                copyfile(part, folder / part.name)


def _check_one_file(model: Path) -> None:
    """Refuse a model that keeps tensors in other files: those could be any that this process may read.

    Such a tensor names its file under the key "location". In protobuf, a string stands as it is behind its
    length, which is 8, possibly in more bytes than it takes: a search finds it wherever in the model it is.
    """
    with model.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        at = data.find(b"location")
        while at >= 0:
            if data[at - 1] == 8 or data[max(0, at - 10) : at].rstrip(b"\0").rstrip(b"\x80").endswith(
                b"\x88"
            ):
                raise ValueError("it has external data, tensors in other files; put all into one file")
            at = data.find(b"location", at + 1)


def _interface(session: Any) -> tuple[list[str], int | None]:
    """Return the names of a model's inputs and, if it says so, the size of its embeddings."""
    inputs = [given.name for given in session.get_inputs()]
    outputs = [made.shape for made in session.get_outputs()]
    if INPUTS[0] not in inputs or not set(inputs) <= set(INPUTS):
        raise ValueError(f"its inputs must be of {', '.join(INPUTS)}, got {', '.join(inputs)}")
    if len(outputs) != 1 or len(outputs[0]) != 3:
        raise ValueError(f"it must have one output of three dimensions, got {outputs}")
    size = outputs[0][2]
    return inputs, size if isinstance(size, int) else None


def processors() -> int:
    """Those that this process may use, where the system says."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
