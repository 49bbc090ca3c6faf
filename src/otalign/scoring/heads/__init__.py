"""Trained layers on top of an encoder.

A head is a value that holds NumPy or torch arrays, so that training and inference run the same code.
`ProjectionHead` is the head of the paper. `TransportHead` also learns the transport.
"""

from dataclasses import fields
from pathlib import Path

from otalign.failures import describe
from otalign.scoring.heads.head import HEAD_FILE, Head
from otalign.scoring.heads.learned_transport import TransportHead
from otalign.scoring.heads.projection import ProjectionHead
from otalign.untrusted import check_array

__all__ = ["HEAD_FILE", "Head", "ProjectionHead", "TransportHead", "load_head"]

HEADS: dict[str, type[ProjectionHead] | type[TransportHead]] = {
    head.name: head for head in (ProjectionHead, TransportHead)
}


def load_head(folder: Path, size: int | None = None) -> Head | None:
    """Load the head in a folder.

    Args:
        folder: Folder of an aligner.
        size: Size of the embeddings that the head must be for; None to accept any.

    Returns:
        The head, or None if the folder has none.

    Raises:
        ValueError: If the file is damaged, or the head is for embeddings of another size.
    """
    if not (folder / HEAD_FILE).is_file():
        return None
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(folder / HEAD_FILE, "numpy") as file:
            type_ = HEADS[file.metadata()["head"]]
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        needed = {field.name for field in fields(type_)}
        if arrays.keys() != needed:
            differing = ", ".join(sorted(arrays.keys() ^ needed))
            raise ValueError(f"it was written by another version ({differing}); train the aligner again")
        head = type_.from_arrays(arrays)
        for name, shape in head.compute_shapes(len(head.offset) if size is None else size).items():
            check_array(name, getattr(head, name), shape)
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise ValueError(
            f"{folder / HEAD_FILE} is not a valid otalign head file: {describe(error, brief=True)}"
        ) from error
    return head
