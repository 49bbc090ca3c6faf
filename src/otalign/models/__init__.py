"""The aligners that come with the package, each a folder beside this file, and what each was measured at.

A folder holds what `Aligner.save` writes, a README.md that tells what the aligner is, the licence of its
weights, and `measured.json`: the test figures of the aligner as it is there, with the digests of the files
that they were measured with.
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
    """What an aligner reached on test sets, and the digest of each of its files then."""

    f1: dict[str, float]  # by column, a corpus and a level
    digests: dict[str, str]  # by file

    @classmethod
    def of(cls, folder: Path) -> Self:
        data = read_json(folder / MEASURED)
        return cls(data["f1"], data["sha256"])

    @property
    def mean(self) -> float:
        return mean(self.f1.values())

    def to_dict(self) -> dict[str, Any]:
        return {"f1": self.f1, "mean": self.mean, "sha256": self.digests}


def names() -> list[str]:
    """The default first."""
    found = (path.name for path in HOME.iterdir() if (path / SETTINGS).is_file())
    return sorted(found, key=lambda name: (name != DEFAULT, name))


def folder(name: str) -> Path:
    """Of an aligner that comes with the package."""
    if name not in names():
        raise ValueError(f"no aligner of the name {name!r} comes with the package, only {', '.join(names())}")
    return HOME / name


def digests(folder: Path) -> dict[str, str]:
    """Of the files that decide what an aligner does."""
    told = {MEASURED, CARD, LICENCE}
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name not in told)
    return {path.name: _digest(path) for path in files}


def check_digests(folder: Path) -> None:
    """Check that the files of an aligner that comes with the package are those that were measured.

    Raises:
        ValueError: If one is missing or was changed.
    """
    for name, digest in Measured.of(folder).digests.items():
        if not (folder / name).is_file() or _digest(folder / name) != digest:
            raise ValueError(
                f"{folder / name} is not the file that otalign was released with; install it anew"
            )


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()
