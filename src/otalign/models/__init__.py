"""The aligners that are part of the package, each in a folder beside this file, with their test figures.

A folder holds the files that `Aligner.save` writes, a README.md, the licence of the weights, and
`measured.json`: the test figures of the aligner, with the digests of the files that were measured.
"""

from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from statistics import mean
from typing import Any, Self

from otalign.untrusted import read_json

HOME = Path(__file__).parent
DEFAULT = "small"
SETTINGS, MEASURED, CARD, LICENCE = "otalign.json", "measured.json", "README.md", "LICENSE"


@dataclass(frozen=True)
class Measured:
    """Test figures of an aligner, and the digests of its files when it was measured.

    Attributes:
        f1: F1 by column, which names a corpus and a level.
        digests: SHA-256 by file name.
    """

    f1: dict[str, float]
    digests: dict[str, str]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the figures from the folder of an aligner."""
        data = read_json(folder / MEASURED)
        return cls(data["f1"], data["sha256"])

    @property
    def mean(self) -> float:
        """Mean F1 over all columns."""
        return mean(self.f1.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the content of `measured.json`."""
        return {"f1": self.f1, "mean": self.mean, "sha256": self.digests}


def names() -> list[str]:
    """Return the names of the aligners in the package, the default first."""
    shipped = (path.name for path in HOME.iterdir() if (path / SETTINGS).is_file())
    return sorted(shipped, key=lambda name: (name != DEFAULT, name))


def folder(name: str) -> Path:
    """Return the folder of an aligner in the package.

    Args:
        name: One of `names()`.

    Returns:
        The folder.

    Raises:
        ValueError: If no aligner has that name.
    """
    if name not in names():
        raise ValueError(f"the package has no aligner named {name!r}; choose one of {', '.join(names())}")
    return HOME / name


def digests(folder: Path) -> dict[str, str]:
    """Compute the SHA-256 digest of every file that determines the output of an aligner.

    Args:
        folder: The folder of the aligner.

    Returns:
        Digests by file name.
    """
    documentation = {MEASURED, CARD, LICENCE}
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name not in documentation)
    return {path.name: _compute_digest(path) for path in files}


def check_digests(folder: Path) -> None:
    """Check that the files of an aligner in the package are those that were measured.

    Args:
        folder: The folder of the aligner.

    Raises:
        ValueError: If a file is missing or was changed.
    """
    for name, digest in Measured.read(folder).digests.items():
        if not (folder / name).is_file() or _compute_digest(folder / name) != digest:
            raise ValueError(
                f"{folder / name} is not the file that otalign was released with; reinstall the package"
            )


def _compute_digest(file: Path) -> str:
    with file.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()
