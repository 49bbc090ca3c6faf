"""The base class of heads: values of trained arrays, of NumPy or torch."""

from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from otalign.arrays import Array, array_namespace, device
from otalign.atomic import open_atomic

HEAD_FILE = "head.safetensors"


class Head:
    """Base class of heads, which are dataclasses of trained arrays.

    Attributes:
        name: Name of the type of head in files.
    """

    name: ClassVar[str]

    @property
    def reads_spelling(self) -> bool:
        """True if word vectors must be followed by the vectors of their spelling."""
        return False

    def compute_shapes(self, size: int) -> dict[str, tuple[int, ...]]:
        """Return the shape that each array must have, given the size of the embeddings."""
        raise NotImplementedError

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> Self:
        """Return the head with the arrays of a file, which may be of an older version."""
        return cls(**arrays)

    def arrays(self) -> dict[str, Array]:
        """Return the arrays by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # pyright: ignore

    def to_device(self, vectors: Array) -> Self:
        """Return the head with its arrays in the library, and on the device, of the vectors."""
        xp, at, before = array_namespace(vectors), device(vectors), self.arrays()
        arrays = {name: xp.asarray(a, device=at) for name, a in before.items()}
        return self if all(arrays[name] is before[name] for name in arrays) else type(self)(**arrays)

    def __getstate__(self) -> dict[str, Array]:
        """Pickle the arrays alone, without what is computed from them."""
        return self.arrays()

    def save(self, folder: Path) -> None:
        """Write the head to a folder."""
        from safetensors.numpy import save

        arrays = {key: np.ascontiguousarray(array) for key, array in self.arrays().items()}
        with open_atomic(folder / HEAD_FILE) as file:
            file.write(save(arrays, {"head": self.name}))


def draw_weights(random: "np.random.Generator", rows: int, columns: int) -> np.ndarray:
    """Draw the initial weights of a linear layer."""
    return random.normal(scale=(3 * rows) ** -0.5, size=(rows, columns)).astype(np.float32)


def multiply(xp: Any, x: Array, matrix: Array) -> Array:
    """Compute x @ matrix as one product: NumPy would compute one for each matrix of a stack."""
    return xp.reshape(xp.reshape(x, (-1, x.shape[-1])) @ matrix, (*x.shape[:-1], -1))
