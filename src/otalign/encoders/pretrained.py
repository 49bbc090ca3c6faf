"""The files of a pretrained encoder, from a folder or by a name on the Hugging Face hub.

A folder is read without any network call, and so is a name once it has been downloaded. Weights come from
safetensors, never from pickles, and no code that belongs to a model is run.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from otalign.failures import describe
from otalign.untrusted import read_array, read_json

OPTIONAL_WEIGHTS = ("pooler", "decoder")  # prefixes of weights that embeddings do not need
MIX = "mix.npy"  # weights of the last layers, if training has mixed them
PARTS = ("*.json", "*.safetensors", "*.txt", "*.model", MIX)  # files of a saved model and its tokenizer
SAFELY = {
    "local_files_only": True,
    "trust_remote_code": False,
}  # else transformers prompts the user
NEEDS = "the encoder {} needs torch and transformers: pip install 'otalign[torch]'"
UNREADABLE = "{} cannot be read as a Hugging Face encoder: {}"
CODE = (
    "{} needs custom Python code to be loaded, and otalign runs no code of a model; "
    "use a model that transformers supports natively"
)


def read_depth(name: str) -> int:
    """Return the number of a model's last layer, from its configuration alone."""
    layers = read_config(name, Path(name) if Path(name).is_dir() else Path(_download(name))).num_hidden_layers
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
    """Turn any error in the files of a model into a ValueError of one line that names the model."""
    from transformers.utils import logging

    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()  # it warns about heads that are not loaded, which are not needed
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
    """Check the JSON files that transformers reads; refuse attention kernels, which are code from the hub."""
    for file in (folder / "config.json", folder / "tokenizer_config.json"):
        if not file.is_file():
            continue
        try:
            values = [read_json(file)]
            for value in values:  # the list grows by nested configurations
                kernel = value.get("attn_implementation") or value.get("_attn_implementation")
                if isinstance(kernel, str) and "/" in kernel:
                    raise ValueError(f"attn_implementation must not be the kernel {kernel!r}")
                values += [part for part in value.values() if isinstance(part, dict)]
        except ValueError as error:
            raise ValueError(f"{file.name}: {error}") from error


def read_mix(folder: Path) -> np.ndarray | None:
    """Return the weights with which the last layers of the model in a folder are mixed, if they are."""
    return read_array(folder / MIX, (None,)) if (folder / MIX).is_file() else None


def load_model(name: str, layers: int | None) -> tuple[Any, Any, Path]:
    """Load a model.

    Args:
        name: A folder, or a name on the hub.
        layers: Number of layers to load; None for all.

    Returns:
        The encoder, its tokenizer, and the folder of its files.
    """
    try:
        from transformers import AutoModel, AutoTokenizer
    except ImportError as error:
        raise ImportError(NEEDS.format(name)) from error
    folder = name if Path(name).is_dir() else _download(name)
    options = {} if layers is None else {"num_hidden_layers": layers}
    read_config(name, Path(folder))  # first, since its error for a model with code is the clearest
    with translate_errors(name):
        tokenizer = AutoTokenizer.from_pretrained(folder, **SAFELY)
        model, info = AutoModel.from_pretrained(
            folder, use_safetensors=True, output_loading_info=True, **SAFELY, **options
        )
    if getattr(tokenizer, "backend_tokenizer", None) is None:
        raise ValueError(f"the tokenizer of {name} has no offsets; use a model that has a tokenizer.json")
    for missing in sorted(info["missing_keys"]):
        if not missing.startswith(OPTIONAL_WEIGHTS):  # they would be initialized at random
            raise ValueError(
                f"{name} has no weights for {missing}; are its files complete, and is it an encoder?"
            )
    model = model.float()  # weights may be stored in half precision, which is slow and imprecise on a CPU
    return (model.get_encoder() if model.config.is_encoder_decoder else model), tokenizer, Path(folder)


def _download(name: str) -> str:
    """Return the folder of a model on the hub, downloaded unless it was before."""
    from huggingface_hub import snapshot_download

    # Only the model itself, not its other formats in subfolders.
    options: dict[str, Any] = {"allow_patterns": list(PARTS), "ignore_patterns": ["*/*"]}
    try:
        folder = snapshot_download(name, local_files_only=True, **options)
        if any(Path(folder).glob("*.safetensors")):
            return folder
    except (OSError, ValueError):
        pass
    try:
        return snapshot_download(name, **options)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"there is no folder {name}, and no model of this name could be downloaded from the Hugging Face "
            f"hub ({reason}); check the name, or run 'hf download {name} --local-dir FOLDER' on a machine "
            f"with a network and use that folder"
        ) from error
