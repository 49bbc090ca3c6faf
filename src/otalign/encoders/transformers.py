"""Hugging Face encoders at any of their layers, on CPU or GPU (`pip install otalign[torch]`).

Layer 0 is the embedding layer, layer k the output of the k-th block, as in `hidden_states`. The blocks after
the chosen layer are neither run nor kept in memory.
"""

import stat
from collections.abc import Sequence
from contextvars import ContextVar
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any, get_args

import numpy as np

from otalign.atomic import copy_atomic, open_atomic
from otalign.encoders.encoder import CPU_BATCH, GPU_BATCH, INPUTS, Encoder, Precision
from otalign.encoders.onnx import MODEL as EXPORTED
from otalign.encoders.pretrained import MIX, PARTS, load_model, read_mix, translate_errors
from otalign.encoders.subwords import SubwordTokenizer

DEFAULT_LIMIT = 512  # subwords per input, for models without a limit of their own
TOKENIZER_PARTS = ("tokenizer*", "vocab*", "merges*", "special_tokens*", "added_tokens*", "*.model")

# Share of a GPU's memory for the embeddings of one chunk, and the maximum number of words in a chunk, enough
# to fill batches with inputs of similar length.
MEMORY_SHARE, MAX_WORDS = 1 / 16, 1 << 21

# Inputs of the blocks by layer, while several layers are computed; separate for each thread.
BLOCK_INPUTS: ContextVar[dict[int, Any] | None] = ContextVar("BLOCK_INPUTS", default=None)


class Transformers(Encoder):
    """A Hugging Face encoder.

    Args:
        name: A folder, or a model's name on the hub.
        layer: Layer to use; None for two thirds of the way up, or the last if training has mixed layers.
        device: Device of torch; None for the best available.
        threads: Number of threads; None for torch's default.
        batch_size: Subwords per batch, padding included; None for a size that suits the device.
        precision: Precision of the model.
        depth: Number of the first layers to load, as if the model had no others; None for all.

    Raises:
        ValueError: If the model cannot be read, or has no such layer.
        ImportError: If torch or transformers are missing.
    """

    def __init__(
        self,
        name: str,
        layer: int | None = None,
        *,
        device: str | None = None,
        threads: int | None = None,
        batch_size: int | None = None,
        precision: Precision = "float32",
        depth: int | None = None,
    ) -> None:
        if precision not in get_args(Precision):
            raise ValueError(f"precision must be 'float32' or 'bfloat16', got {precision!r}")
        model, tokenizer, self.origin = load_model(name, depth)
        self.folder = Path(name) if Path(name).is_dir() else None
        self.device = _choose_device(device)
        self.mix = read_mix(self.origin)
        if batch_size is None:
            batch_size = CPU_BATCH if self.device == "cpu" else GPU_BATCH
        with translate_errors(name):  # a configuration may hold any value of any type
            self.inputs = _find_inputs(model, tokenizer)
            blocks, limit = _find_blocks(model), _find_limit(model, tokenizer)
            self.size = int(model.config.hidden_size)
        if self.mix is not None and len(self.mix) > len(blocks) + 1:
            raise ValueError(f"{MIX} mixes {len(self.mix)} layers, but {name} has {len(blocks) + 1}")
        if layer is None:
            layer = choose_default_layer(len(blocks)) if self.mix is None else len(blocks)
        if not 0 <= layer <= len(blocks):
            raise ValueError(f"layer must be from 0 to {len(blocks)} for {name}, got {layer}")
        if self.mix is not None and layer < len(blocks):
            raise ValueError(
                f"layer must be {len(blocks)} for {name}, whose last layers are mixed, got {layer}"
            )
        super().__init__(
            Path(name).resolve().name if self.folder else name,
            layer,
            limit,
            tokenizer.pad_token_id or 0,
            SubwordTokenizer(tokenizer.backend_tokenizer),
            batch_size,
        )
        # One block more is kept: its input is the layer's output, before the norm that some models have after
        # their last block.
        del blocks[layer + 1 :]
        for k, block in enumerate(blocks[:layer]):
            block.register_forward_pre_hook(partial(_record_input, k), with_kwargs=True)
        if layer < len(blocks):
            blocks[layer].register_forward_pre_hook(_stop, with_kwargs=True)
        import torch

        self.model = model.to(self.device, getattr(torch, precision)).eval()
        if self.device.startswith("cuda"):
            # cuDNN makes a plan for every batch shape, which took a third of the training time.
            torch.backends.cuda.enable_cudnn_sdp(False)
            memory = torch.cuda.get_device_properties(self.device).total_memory
            self.words_at_once = min(MAX_WORDS, int(MEMORY_SHARE * memory) // (4 * model.config.hidden_size))
        self.trained = False  # whether the weights have changed since they were read
        if threads:
            torch.set_num_threads(threads)

    def compute_states(self, ids: np.ndarray, mask: np.ndarray, types: np.ndarray) -> Any:
        """Compute the states of the layer."""
        import torch

        arrays = dict[str, np.ndarray](zip(INPUTS, (ids, mask, types), strict=True))
        tensors = {name: self._to_device(torch.from_numpy(arrays[name])) for name in self.inputs}
        mix = None if self.mix is None else self._to_device(torch.from_numpy(self.mix))
        with torch.inference_mode():
            return self._to_output(run_model(self.model, tensors, mix).float())

    def compute_layers(
        self, ids: np.ndarray, mask: np.ndarray, types: np.ndarray, layers: Sequence[int]
    ) -> list[Any]:
        """Compute the states of several layers, none above the encoder's own, in one run."""
        for layer in layers:
            if not 0 <= layer <= self.layer:
                raise ValueError(
                    f"layer must be from 0 to {self.layer}, the last layer of {self.name} in use, got {layer}"
                )
        inputs: dict[int, Any] = {}
        token = BLOCK_INPUTS.set(inputs)
        try:
            top = self.compute_states(ids, mask, types)
        finally:
            BLOCK_INPUTS.reset(token)
        return [top if layer == self.layer else self._to_output(inputs[layer].float()) for layer in layers]

    def _to_device(self, tensor: Any) -> Any:
        """Copy a tensor to the device, asynchronously if it is a CUDA GPU."""
        if self.device.startswith("cuda"):
            return tensor.pin_memory().to(self.device, non_blocking=True)
        return tensor.to(self.device)

    def _to_output(self, states: Any) -> Any:
        """Convert states to NumPy unless they are on a CUDA GPU."""
        # On a CPU, NumPy is faster for the next steps; these also need float64, which Apple's GPUs lack.
        return states if self.device.startswith("cuda") else states.cpu().numpy()

    def as_module(self) -> Any:
        """Return a torch module from the model's inputs to the layer's states, for export."""
        from torch import from_numpy
        from torch.nn import Module

        model, layer, names, mix = self.model, self.layer, self.inputs, self.mix

        class UpToLayer(Module):
            def __init__(self) -> None:
                super().__init__()
                self.model = model

            def forward(self, *tensors: Any) -> Any:
                inputs = dict(zip(names, tensors, strict=True))
                layers = self.model(**inputs, output_hidden_states=True).hidden_states
                return layers[layer] if mix is None else mix_layers(layers, from_numpy(mix))

        return UpToLayer()

    def list_files(self) -> list[Path]:
        """Return the files of the folder that it was read from; none for a model from the hub."""
        return sorted(part for pattern in PARTS for part in self.folder.glob(pattern)) if self.folder else []

    def save(self, folder: Path) -> None:
        """Write a trained model, or copy one from a folder; the name of a model from the hub is enough.

        Args:
            folder: The folder.

        Raises:
            ValueError: If the folder holds another encoder.
        """
        named = not self.trained and not self.folder
        if (folder / EXPORTED).is_file() or (named and (folder / "config.json").is_file()):
            raise ValueError(
                f"{folder} holds another encoder, which would be loaded instead; choose a new folder"
            )
        if self.trained:
            self._write_model(folder)
        elif self.folder and folder.resolve() != self.folder.resolve():
            (folder / MIX).unlink(missing_ok=True)  # of another encoder that was saved here before
            for part in self.list_files():
                copy_atomic(part, folder / part.name)

    def _write_model(self, folder: Path) -> None:
        """Write the current weights, and copy the tokenizer."""
        self.model.save_pretrained(folder)
        mode = stat.S_IMODE((folder / "config.json").stat().st_mode)
        for weights in folder.glob("*.safetensors"):  # written for their owner alone, unlike the other files
            weights.chmod(mode)
        if folder.resolve() != self.origin.resolve():
            for pattern in TOKENIZER_PARTS:
                for part in self.origin.glob(pattern):
                    copy_atomic(part, folder / part.name)
        (folder / MIX).unlink(missing_ok=True)
        if self.mix is not None:
            with open_atomic(folder / MIX) as file:
                np.save(file, self.mix)


def run_model(model: Any, tensors: dict[str, Any], mix: Any = None) -> Any:
    """Compute the output of a model.

    Args:
        model: The model.
        tensors: Its inputs.
        mix: Weights of the last layers, (layers,); None for the last layer alone.

    Returns:
        States (B, L, D).
    """
    if mix is not None:
        return mix_layers(model(**tensors, output_hidden_states=True).hidden_states, mix)
    try:
        return model(**tensors).last_hidden_state
    except LayerReached as stop:
        return stop.states


def mix_layers(layers: Sequence[Any], mix: Any) -> Any:
    """Compute the weighted sum of the last layers, each normalized to mean 0 and variance 1."""
    from torch.nn.functional import layer_norm

    last = layers[-len(mix) :]
    return sum(share * layer_norm(states, states.shape[-1:]) for share, states in zip(mix, last, strict=True))


class LayerReached(Exception):
    """Raised before the first block that is not needed, with its input."""

    def __init__(self, states: Any) -> None:
        self.states = states


def _stop(block: Any, positional: tuple, named: dict) -> None:
    from torch.compiler import is_exporting

    if not is_exporting():  # a graph has no exceptions, and drops what it does not need
        raise LayerReached(positional[0] if positional else named["hidden_states"])


def _record_input(layer: int, block: Any, positional: tuple, named: dict) -> None:
    from torch.compiler import is_exporting

    if not is_exporting() and (inputs := BLOCK_INPUTS.get()) is not None:
        inputs[layer] = positional[0] if positional else named["hidden_states"]


def choose_default_layer(layers: int) -> int:
    """Return the layer two thirds of the way up, where most encoders place words of similar meaning close."""
    return -(-2 * layers // 3)


def _find_inputs(model: Any, tokenizer: Any) -> list[str]:
    """Return the names of the model's inputs: a mask if it takes one, types if its tokenizer has them."""
    available = {"input_ids", "attention_mask", *tokenizer.model_input_names}
    return [name for name in INPUTS if name in available and name in signature(model.forward).parameters]


def _find_blocks(model: Any) -> Any:
    """Return the list of the model's layers."""
    from torch.nn import ModuleList

    count = model.config.num_hidden_layers
    for module in model.modules():
        if isinstance(module, ModuleList) and len(module) == count:
            return module
    raise ValueError(f"cannot find the {count} layers of {type(model).__name__}; it is not a plain encoder")


def _find_limit(model: Any, tokenizer: Any) -> int:
    """Return the maximum number of subwords per input, special ones included."""
    positions = getattr(model.config, "max_position_embeddings", None) or DEFAULT_LIMIT
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            positions = module.num_embeddings - module.padding_idx - 1  # positions before it are never used
    limit = min(positions, tokenizer.model_max_length)
    if not isinstance(limit, int) or limit < 1:
        raise ValueError(f"it must take a number of subwords that is at least 1, got {limit!r}")
    return limit


def _choose_device(device: str | None) -> str:
    """Return the given device if torch can use it, or the best available if it is None."""
    import torch

    if device is None:
        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"device must be one that torch can use here, got {device!r}: {reason}") from error
    return device
