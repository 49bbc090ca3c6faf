"""Any Hugging Face encoder at any of its layers, on CPU or GPU (`pip install otalign[torch]`).

Layer 0 is the embedding layer, layer k what the k-th block gives, as `hidden_states` counts them. The
blocks after the chosen one are neither run nor kept.
"""

from collections.abc import Sequence
from contextvars import ContextVar
from functools import partial
from inspect import signature
from pathlib import Path
from shutil import copyfile
from typing import Any, get_args

import numpy as np

from otalign.encoders.encoder import CPU_BATCH, GPU_BATCH, INPUTS, Encoder, Precision
from otalign.encoders.onnx import MODEL as EXPORTED
from otalign.encoders.pretrained import MIX, PARTS, load_model, mix_in, translate_errors
from otalign.encoders.subwords import Subworder

SIZE_IF_UNSAID = 512  # subwords of an input, for models that set no limit of their own
TOKENIZER_PARTS = ("tokenizer*", "vocab*", "merges*", "special_tokens*", "added_tokens*", "*.model")

# Of a GPU's memory, the part that the embeddings of one chunk take, and the words of which there is no use
# for more: so many that a GPU is busy with those of like length.
ROOM, MOST_WORDS = 1 / 16, 1 << 21

# While several layers are asked for: what the blocks on the way are given, for each thread its own.
PASSED: ContextVar[dict[int, Any] | None] = ContextVar("PASSED", default=None)


class Transformers(Encoder):
    """`name` is a folder, or a model's name on the Hugging Face hub. With `kept` it is read as if it had its
    first so many layers and no others."""

    def __init__(
        self,
        name: str,
        layer: int | None = None,
        *,
        device: str | None = None,
        threads: int | None = None,
        batch_size: int | None = None,
        precision: Precision = "float32",
        kept: int | None = None,
    ):
        if precision not in get_args(Precision):
            raise ValueError(f"precision must be 'float32' or 'bfloat16', got {precision!r}")
        model, tokenizer, self.origin = load_model(name, kept)
        self.folder = Path(name) if Path(name).is_dir() else None
        self.device = _device(device)
        self.mix = mix_in(self.origin)
        if batch_size is None:
            batch_size = CPU_BATCH if self.device == "cpu" else GPU_BATCH
        with translate_errors(name):  # a configuration may say anything, in any type
            self.inputs = _inputs(model, tokenizer)
            blocks, limit = _blocks(model), _limit(model, tokenizer)
            self.size = int(model.config.hidden_size)
        if self.mix is not None and len(self.mix) > len(blocks) + 1:
            raise ValueError(f"{MIX} mixes {len(self.mix)} layers, but {name} has {len(blocks) + 1}")
        if layer is None:
            layer = default_layer(len(blocks)) if self.mix is None else len(blocks)
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
            Subworder(tokenizer.backend_tokenizer),
            batch_size,
        )
        # One block more than wanted is kept: what it is given is the layer's own output, before the norm
        # that some models have after their last block.
        del blocks[layer + 1 :]
        for k, block in enumerate(blocks[:layer]):
            block.register_forward_pre_hook(partial(_note, k), with_kwargs=True)
        if layer < len(blocks):
            blocks[layer].register_forward_pre_hook(_stop, with_kwargs=True)
        import torch

        self.model = model.to(self.device, getattr(torch, precision)).eval()
        if self.device.startswith("cuda"):
            # It makes a plan for every shape of a batch, which took a third of the time of training.
            torch.backends.cuda.enable_cudnn_sdp(False)
            there = torch.cuda.get_device_properties(self.device).total_memory
            self.words_at_once = min(MOST_WORDS, int(ROOM * there) // (4 * model.config.hidden_size))
        self.trained = False  # whether the weights are no longer those that were read
        if threads:
            torch.set_num_threads(threads)

    def hidden(self, ids: np.ndarray, mask: np.ndarray, types: np.ndarray) -> Any:
        import torch

        given = dict[str, np.ndarray](zip(INPUTS, (ids, mask, types), strict=True))
        tensors = {name: self._sent(torch.from_numpy(given[name])) for name in self.inputs}
        mix = None if self.mix is None else self._sent(torch.from_numpy(self.mix))
        with torch.inference_mode():
            return self._lent(states(self.model, tensors, mix).float())

    def hidden_layers(
        self, ids: np.ndarray, mask: np.ndarray, types: np.ndarray, layers: Sequence[int]
    ) -> list[Any]:
        for layer in layers:
            if not 0 <= layer <= self.layer:
                raise ValueError(
                    f"layer must be from 0 to {self.layer}, up to which {self.name} is loaded, got {layer}"
                )
        passed: dict[int, Any] = {}
        token = PASSED.set(passed)
        try:
            top = self.hidden(ids, mask, types)
        finally:
            PASSED.reset(token)
        return [top if layer == self.layer else self._lent(passed[layer].float()) for layer in layers]

    def _sent(self, tensor: Any) -> Any:
        """To the device; a GPU that can is not waited for."""
        if self.device.startswith("cuda"):
            return tensor.pin_memory().to(self.device, non_blocking=True)
        return tensor.to(self.device)

    def _lent(self, states: Any) -> Any:
        """NumPy is quicker with what follows on the CPU; Apple's GPUs have no float64 for it."""
        return states if self.device.startswith("cuda") else states.cpu().numpy()

    def as_module(self) -> Any:
        """A torch module from the tensors that the model takes to the layer's states, fit to be traced."""
        from torch import from_numpy
        from torch.nn import Module

        model, layer, names, mix = self.model, self.layer, self.inputs, self.mix

        class UpToLayer(Module):
            def __init__(self):
                super().__init__()
                self.model = model

            def forward(self, *tensors):
                given = dict(zip(names, tensors, strict=True))
                layers = self.model(**given, output_hidden_states=True).hidden_states
                return layers[layer] if mix is None else mix_layers(layers, from_numpy(mix))

        return UpToLayer()

    def files(self) -> list[Path]:
        return sorted(part for pattern in PARTS for part in self.folder.glob(pattern)) if self.folder else []

    def save(self, folder: Path) -> None:
        """A trained model is written, one from a folder copied; of one from the hub, the name is enough."""
        named = not self.trained and not self.folder
        if (folder / EXPORTED).is_file() or (named and (folder / "config.json").is_file()):
            raise ValueError(
                f"{folder} holds another encoder, which would be loaded instead; give a new folder"
            )
        if self.trained:
            self._write(folder)
        elif self.folder and folder.resolve() != self.folder.resolve():
            (folder / MIX).unlink(missing_ok=True)  # that of another encoder, saved here before
            for part in self.files():
                copyfile(part, folder / part.name)

    def _write(self, folder: Path) -> None:
        """The weights as they are now, and the tokeniser as it was."""
        self.model.save_pretrained(folder)
        if folder.resolve() != self.origin.resolve():
            for pattern in TOKENIZER_PARTS:
                for part in self.origin.glob(pattern):
                    copyfile(part, folder / part.name)
        (folder / MIX).unlink(missing_ok=True)
        if self.mix is not None:
            np.save(folder / MIX, self.mix)


def states(model: Any, tensors: dict[str, Any], mix: Any = None) -> Any:
    """What a model makes of its inputs, (B, L, D): the states of its last layer, or the last few mixed."""
    if mix is not None:
        return mix_layers(model(**tensors, output_hidden_states=True).hidden_states, mix)
    try:
        return model(**tensors).last_hidden_state
    except Reached as reached:
        return reached.states


def mix_layers(layers: Sequence[Any], mix: Any) -> Any:
    """The last layers, each brought to mean 0 and variance 1, times the mix (layers,), added up."""
    from torch.nn.functional import layer_norm

    last = layers[-len(mix) :]
    return sum(share * layer_norm(one, one.shape[-1:]) for share, one in zip(mix, last, strict=True))


class Reached(Exception):
    """Raised before the first block that is not wanted, with the states that it was to get."""

    def __init__(self, states: Any):
        self.states = states


def _stop(block: Any, positional: tuple, named: dict) -> None:
    from torch.compiler import is_exporting

    if not is_exporting():  # a graph holds no exceptions; what it does not need falls away by itself
        raise Reached(positional[0] if positional else named["hidden_states"])


def _note(layer: int, block: Any, positional: tuple, named: dict) -> None:
    from torch.compiler import is_exporting

    if not is_exporting() and (passed := PASSED.get()) is not None:
        passed[layer] = positional[0] if positional else named["hidden_states"]


def default_layer(layers: int) -> int:
    """Two thirds of the way up, where most encoders have words of like meaning close together."""
    return -(-2 * layers // 3)


def _inputs(model: Any, tokenizer: Any) -> list[str]:
    """The names of what the model is given: a mask if it takes one at all, types if its tokeniser says so."""
    said = {"input_ids", "attention_mask", *tokenizer.model_input_names}
    return [name for name in INPUTS if name in said and name in signature(model.forward).parameters]


def _blocks(model: Any) -> Any:
    """The list of the model's layers."""
    from torch.nn import ModuleList

    count = model.config.num_hidden_layers
    for module in model.modules():
        if isinstance(module, ModuleList) and len(module) == count:
            return module
    raise ValueError(f"cannot find the {count} layers of {type(model).__name__}; it is no plain encoder")


def _limit(model: Any, tokenizer: Any) -> int:
    """The subwords that the model takes, special ones included."""
    positions = getattr(model.config, "max_position_embeddings", None) or SIZE_IF_UNSAID
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            positions = module.num_embeddings - module.padding_idx - 1  # those before are never used
    limit = min(positions, tokenizer.model_max_length)
    if not isinstance(limit, int) or limit < 1:
        raise ValueError(f"it must take a number of subwords that is at least 1, got {limit!r}")
    return limit


def _device(wanted: str | None) -> str:
    """The one that is wanted, or the best that is there."""
    import torch

    if wanted is None:
        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        torch.empty(1, device=wanted)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"device must be one that torch can use here, got {wanted!r}: {reason}") from error
    return wanted
