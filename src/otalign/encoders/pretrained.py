"""The files of a pretrained encoder: from a folder, or by a name on the Hugging Face hub.

A folder is read without any network call, and so is a name once it has been fetched. Weights come from
safetensors, never from pickles, and no code that comes with a model is run.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from otalign.failures import describe
from otalign.untrusted import read_array, read_json

NOT_MISSED = ("pooler", "decoder")  # weights that no word's embedding needs
MIX = "mix.npy"  # of the last layers, where training has found one
PARTS = ("*.json", "*.safetensors", "*.txt", "*.model", MIX)  # the files of a saved model and its tokeniser
SAFELY = {"local_files_only": True, "trust_remote_code": False}  # else transformers asks on standard input
NEEDS = "the encoder {} needs torch and transformers: pip install 'otalign[torch]'"
UNREADABLE = "{} cannot be read as a Hugging Face encoder: {}"
CODE = (
    "{} comes with Python code that would have to be run to load it, and otalign runs no code of a model; "
    "use a model that transformers knows itself"
)


def depth(name: str) -> int:
    """The number of a model's last layer, from its configuration alone."""
    layers = read_config(name, Path(name) if Path(name).is_dir() else Path(_fetch(name))).num_hidden_layers
    if not isinstance(layers, int) or layers < 1:
        raise ValueError(UNREADABLE.format(name, f"num_hidden_layers must be at least 1, got {layers!r}"))
    return layers


def read_config(name: str, folder: Path) -> Any:
    """Read the configuration of the model in a folder; errors call it by its name."""
    try:
        from transformers import AutoConfig
    except ImportError as error:
        raise ImportError(NEEDS.format(name)) from error
    with translate_errors(name):
        _check_json(folder)
        return AutoConfig.from_pretrained(folder, **SAFELY)


@contextmanager
def translate_errors(name: str) -> Iterator[None]:
    """Turn whatever goes wrong with the files of a model into a ValueError of one line that names it."""
    from transformers.utils import logging

    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()  # of a head that is not loaded: it is not missed
    logging.disable_progress_bar()
    try:
        yield
    except Exception as error:  # the files may hold anything, and transformers fails in many ways
        if "trust_remote_code" in str(error):
            raise ValueError(CODE.format(name)) from error
        raise ValueError(UNREADABLE.format(name, describe(error, brief=True))) from error
    finally:
        logging.set_verbosity(verbosity)


def _check_json(folder: Path) -> None:
    """Check what transformers reads as JSON; refuse attention by a kernel, which is code from the hub."""
    for file in (folder / "config.json", folder / "tokenizer_config.json"):
        if not file.is_file():
            continue
        try:
            values = [read_json(file)]
            for value in values:  # grows: the configurations of parts count too
                kernel = value.get("attn_implementation") or value.get("_attn_implementation")
                if isinstance(kernel, str) and "/" in kernel:
                    raise ValueError(f"attn_implementation must not be the kernel {kernel!r}")
                values += [part for part in value.values() if isinstance(part, dict)]
        except ValueError as error:
            raise ValueError(f"{file.name}: {error}") from error


def mix_in(folder: Path) -> np.ndarray | None:
    """How the last layers of the model in a folder are mixed, if they are."""
    return read_array(folder / MIX, (None,)) if (folder / MIX).is_file() else None


def load_model(name: str, kept: int | None) -> tuple[Any, Any, Path]:
    """The encoder, or its first layers, its tokeniser, and the folder where they lie."""
    try:
        from transformers import AutoModel, AutoTokenizer
    except ImportError as error:
        raise ImportError(NEEDS.format(name)) from error
    folder = name if Path(name).is_dir() else _fetch(name)
    fewer = {} if kept is None else {"num_hidden_layers": kept}
    read_config(name, Path(folder))  # first, since it says best why a folder with code is refused
    with translate_errors(name):
        tokenizer = AutoTokenizer.from_pretrained(folder, **SAFELY)
        model, info = AutoModel.from_pretrained(
            folder, use_safetensors=True, output_loading_info=True, **SAFELY, **fewer
        )
    if getattr(tokenizer, "backend_tokenizer", None) is None:
        raise ValueError(f"the tokenizer of {name} knows no offsets; use a model that has a tokenizer.json")
    for missing in sorted(info["missing_keys"]):
        if not missing.startswith(NOT_MISSED):  # else words would be embedded by weights drawn at random
            raise ValueError(
                f"{name} has no weights for {missing}; are its files whole, and is it an encoder?"
            )
    model = model.float()  # weights may be stored in half precision; a CPU is slow and rough with it
    return (model.get_encoder() if model.config.is_encoder_decoder else model), tokenizer, Path(folder)


def _fetch(name: str) -> str:
    """The folder where the model of this name lies, fetched from the hub if it has not been before."""
    from huggingface_hub import snapshot_download

    # Only the files of the model itself, no other forms in folders below.
    wanted: dict[str, Any] = {"allow_patterns": list(PARTS), "ignore_patterns": ["*/*"]}
    try:
        folder = snapshot_download(name, local_files_only=True, **wanted)
        if any(Path(folder).glob("*.safetensors")):
            return folder
    except (OSError, ValueError):
        pass
    try:
        return snapshot_download(name, **wanted)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"there is no folder {name}, and no model of this name could be fetched from the Hugging Face "
            f"hub ({reason}); check the name, or fetch it where there is a network with "
            f"'hf download {name} --local-dir FOLDER' and give that folder"
        ) from error
