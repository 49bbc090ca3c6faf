"""An encoder as `otalign export` writes it, run by onnxruntime and tokenizers alone, without torch.

The folder holds `encoder.onnx`, which also says its name, layer, limit and padding, and `tokenizer.json`.
"""

import os
from pathlib import Path
from shutil import copyfile
from typing import Any

import numpy as np

from otalign.encoders.encoder import INPUTS, Encoder
from otalign.encoders.subwords import Subworder

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
            self.session = onnxruntime.InferenceSession(
                self.folder / MODEL, options, providers=["CPUExecutionProvider"], disabled_optimizers=SLOWER
            )
            said = self.session.get_modelmeta().custom_metadata_map
            about = said["name"], int(said["layer"]), int(said["limit"]), int(said["pad"])
        except Exception as error:
            raise ValueError(f"{self.folder / MODEL} is no encoder of otalign: {error}") from error
        self.inputs = [given.name for given in self.session.get_inputs()]
        try:
            tokenizer = Tokenizer.from_file(str(self.folder / TOKENIZER))
        except Exception as error:  # tokenizers raises no more special ones
            raise ValueError(f"{self.folder / TOKENIZER} cannot be read: {error}") from error
        super().__init__(*about, Subworder(tokenizer), BATCH if batch_size is None else batch_size)

    def hidden(self, ids: np.ndarray, mask: np.ndarray, types: np.ndarray) -> np.ndarray:
        given = dict[str, np.ndarray](zip(INPUTS, (ids, mask, types), strict=True))
        (states,) = self.session.run(None, {name: given[name] for name in self.inputs})
        return np.asarray(states)

    def files(self) -> list[Path]:
        return [self.folder / part for part in (MODEL, TOKENIZER)]

    def save(self, folder: Path) -> None:
        if folder.resolve() != self.folder.resolve():
            for part in self.files():
                copyfile(part, folder / part.name)


def processors() -> int:
    """Those that this process may use, where the system says."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
