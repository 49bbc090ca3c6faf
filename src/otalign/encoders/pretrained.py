"""The files of a pretrained encoder: from a folder, or by a name on the Hugging Face hub.

A folder is read without any network call, and so is a name once it has been fetched. Weights come from
safetensors, never from pickles.
"""

from pathlib import Path
from typing import Any

import numpy as np

NOT_MISSED = ("pooler", "decoder")  # weights that no word's embedding needs
MIX = "mix.npy"  # of the last layers, where training has found one
PARTS = ("*.json", "*.safetensors", "*.txt", "*.model", MIX)  # the files of a saved model and its tokeniser
NEEDS = "the encoder {} needs torch and transformers: pip install 'otalign[torch]'"
UNREADABLE = "{} cannot be read as a Hugging Face encoder: {}"


def depth(name: str) -> int:
    """The number of a model's last layer, from its configuration alone."""
    try:
        from transformers import AutoConfig
    except ImportError as error:
        raise ImportError(NEEDS.format(name)) from error
    folder = name if Path(name).is_dir() else _fetched(name)
    try:
        return AutoConfig.from_pretrained(folder, local_files_only=True).num_hidden_layers
    except (OSError, ValueError, AttributeError) as error:
        raise ValueError(UNREADABLE.format(name, error)) from error


def mix_in(folder: Path) -> np.ndarray | None:
    """How the last layers of the model in a folder are mixed, if they are."""
    if not (folder / MIX).is_file():
        return None
    try:
        return np.load(folder / MIX, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise ValueError(f"{folder / MIX} is no mix of layers: {error}") from error


def loaded(name: str, kept: int | None) -> tuple[Any, Any, Path]:
    """The encoder, or its first layers, its tokeniser, and the folder where they lie."""
    try:
        from safetensors import SafetensorError
        from transformers import AutoModel, AutoTokenizer
        from transformers.utils import logging
    except ImportError as error:
        raise ImportError(NEEDS.format(name)) from error
    folder = name if Path(name).is_dir() else _fetched(name)
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()  # of a head that is not loaded: it is not missed
    logging.disable_progress_bar()
    fewer = {} if kept is None else {"num_hidden_layers": kept}
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model, info = AutoModel.from_pretrained(
            folder, local_files_only=True, use_safetensors=True, output_loading_info=True, **fewer
        )
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise ValueError(UNREADABLE.format(name, error)) from error
    finally:
        logging.set_verbosity(verbosity)
    if getattr(tokenizer, "backend_tokenizer", None) is None:
        raise ValueError(f"the tokenizer of {name} knows no offsets; use a model that has a tokenizer.json")
    for missing in sorted(info["missing_keys"]):
        if not missing.startswith(NOT_MISSED):  # else words would be embedded by weights drawn at random
            raise ValueError(
                f"{name} has no weights for {missing}; are its files whole, and is it an encoder?"
            )
    model = model.float()  # weights may be stored in half precision; a CPU is slow and rough with it
    return (model.get_encoder() if model.config.is_encoder_decoder else model), tokenizer, Path(folder)


def _fetched(name: str) -> str:
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
