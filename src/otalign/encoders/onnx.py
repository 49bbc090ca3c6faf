"""An encoder exported by `otalign export`, run by onnxruntime and tokenizers alone, without torch.

The folder holds `encoder.onnx`, whose metadata has name, layer, limit and padding, and `tokenizer.json`.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import numpy as np

from otalign.atomic import copy_atomic
from otalign.encoders.encoder import INPUTS, Encoder
from otalign.encoders.subwords import SubwordTokenizer
from otalign.failures import describe
from otalign.processes import count_processors

MODEL, TOKENIZER = "encoder.onnx", "tokenizer.json"
BATCH = 512  # subwords: larger batches are no faster, and balance the threads less well
INTEGER_PRODUCT = b"MatMulInteger"  # operator of models in int8
SLOWER = ["SkipLayerNormFusion"]  # on a CPU, a fused sum and norm are slower than separate ones


class Onnx(Encoder):
    """An exported encoder, whose layer was chosen when it was exported.

    Only inputs of the same length share a batch. Without padding, the arithmetic of an input is the same in
    any batch, so that its embeddings are the same to the last bit.

    Args:
        folder: Folder with the exported encoder.
        threads: Number of threads; None for all processors.
        batch_size: Subwords per batch; None for the default.

    Raises:
        ValueError: If the folder does not hold a valid encoder.
    """

    padding = False

    def __init__(
        self, folder: str | Path, *, threads: int | None = None, batch_size: int | None = None
    ) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        self.folder = Path(folder)
        for part in (MODEL, TOKENIZER):
            if not (self.folder / part).is_file():
                raise ValueError(f"there is no {part} in {folder}; create the folder with 'otalign export'")
        options: Any = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        # A thread per batch is faster than all threads on one batch.
        options.intra_op_num_threads = 1
        self.at_once = threads or count_processors()
        thread = ThreadPoolExecutor(1)  # both take long, and neither holds Python's lock
        reading = thread.submit(Tokenizer.from_file, str(self.folder / TOKENIZER))
        thread.shutdown(wait=False)
        try:
            _check_one_file(self.folder / MODEL)
            self.int8 = _computes_in_int8(self.folder / MODEL)
            self.session = onnxruntime.InferenceSession(
                self.folder / MODEL, options, providers=["CPUExecutionProvider"], disabled_optimizers=SLOWER
            )
            metadata = self.session.get_modelmeta().custom_metadata_map
            layer, limit, pad = (int(metadata[key]) for key in ("layer", "limit", "pad"))
            name = metadata["name"]
            self.inputs, self.size = _read_interface(self.session)
        except Exception as error:
            raise ValueError(
                f"{self.folder / MODEL} is not a valid otalign encoder: {describe(error, brief=True)}"
            ) from error
        try:
            tokenizer = reading.result()
        except Exception as error:  # tokenizers raises Exception itself
            raise ValueError(f"{self.folder / TOKENIZER} cannot be read: {error}") from error
        super().__init__(
            name, layer, limit, pad, SubwordTokenizer(tokenizer), BATCH if batch_size is None else batch_size
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the folder and the options, with which the encoder is read again: a session has no state."""
        return partial(Onnx, self.folder.resolve(), threads=self.at_once, batch_size=self.batch_size), ()

    def compute_states(self, ids: np.ndarray, mask: np.ndarray, types: np.ndarray) -> np.ndarray:
        """Compute the states of the layer."""
        arrays = dict[str, np.ndarray](zip(INPUTS, (ids, mask, types), strict=True))
        try:
            (output,) = self.session.run(None, {name: arrays[name] for name in self.inputs})
        except Exception as error:  # onnxruntime raises its own types, not ValueError
            raise ValueError(f"{self.folder / MODEL} cannot be run: {describe(error, brief=True)}") from error
        states = np.asarray(output)
        if states.shape[:-1] != ids.shape:
            raise ValueError(
                f"{self.folder / MODEL} returned states of shape {states.shape} for {ids.shape} subwords; "
                "export it again"
            )
        return states

    def list_files(self) -> list[Path]:
        """Return the files that it was read from."""
        return [self.folder / part for part in (MODEL, TOKENIZER)]

    def save(self, folder: Path) -> None:
        """Copy the encoder into a folder."""
        if folder.resolve() != self.folder.resolve():
            for part in self.list_files():
                copy_atomic(part, folder / part.name)


def _check_one_file(model: Path) -> None:
    """Refuse a model with tensors in other files, which could be any file that this process may read.

    Such a tensor names its file under the key "location". In protobuf, a string follows its length, which is
    8, possibly in more bytes than necessary, so that a search finds it anywhere in the model.
    """
    with model.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        index = data.find(b"location")
        while index >= 0:
            if data[index - 1] == 8 or data[max(0, index - 10) : index].rstrip(b"\0").rstrip(
                b"\x80"
            ).endswith(b"\x88"):
                raise ValueError("it has external data, tensors in other files; put all into one file")
            index = data.find(b"location", index + 1)


def _computes_in_int8(model: Path) -> bool:
    """Return whether a model has products of integers."""
    with model.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        return data.find(INTEGER_PRODUCT) >= 0


def _read_interface(session: Any) -> tuple[list[str], int | None]:
    """Return the names of a model's inputs and, if it declares it, the dimension of its embeddings."""
    inputs = [value.name for value in session.get_inputs()]
    outputs = [value.shape for value in session.get_outputs()]
    if INPUTS[0] not in inputs or not set(inputs) <= set(INPUTS):
        raise ValueError(f"its inputs must be among {', '.join(INPUTS)}, got {', '.join(inputs)}")
    if len(outputs) != 1 or len(outputs[0]) != 3:
        raise ValueError(f"it must have one output of three dimensions, got {outputs}")
    size = outputs[0][2]
    return inputs, size if isinstance(size, int) else None
