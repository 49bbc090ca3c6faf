"""The description of a model in its folder: its card, its test figures, and the digests of its files."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any, Self

from otalign.alignment import LEVELS, Level
from otalign.atomic import write_atomic
from otalign.settings import SETTINGS
from otalign.untrusted import read_json

MEASURED, CARD, LICENCE = "measured.json", "README.md", "LICENSE"
BEGIN, END = (
    "<!-- measured -->",
    "<!-- end of measured -->",
)  # around the tables in a card
FRONT_MATTER = 4096  # characters at the start of a card that may be its front matter
RULE = "---\n"  # around the front matter of a card


@dataclass(frozen=True)
class Measurements:
    """Test figures of a model, and the digests of its files when it was measured.

    Attributes:
        f1: F1, from 0 to 1, by column: the name of a test set and a level, such as `mtref sure`.
        digests: SHA-256 by file name.
    """

    f1: Mapping[str, float]
    digests: Mapping[str, str]

    def __post_init__(self) -> None:
        for column, f1 in self.f1.items():
            if column.rpartition(" ")[2] not in LEVELS:
                raise ValueError(f"f1 must be by test set and {' or '.join(LEVELS)}, got {column!r}")
            if not isinstance(f1, int | float) or not 0 <= f1 <= 1:
                raise ValueError(f"f1 must be from 0 to 1, got {f1!r} for {column!r}")
        for name, digest in self.digests.items():
            if Path(name).name != name or not isinstance(digest, str):
                raise ValueError(f"sha256 must hold digests by file name, got {digest!r} for {name!r}")

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the figures from the folder of a model.

        Raises:
            ValueError: If the file is not what `write_measurements` writes.
            OSError: If it cannot be read.
        """
        try:
            data = read_json(folder / MEASURED)
            return cls(dict(data.get("f1", {})), dict(data.get("sha256", {})))
        except (ValueError, TypeError) as error:
            raise ValueError(f"{folder / MEASURED} is not valid: {error}") from error

    @property
    def mean(self) -> float | None:
        """Mean F1 over all columns; None without any."""
        from statistics import mean

        return mean(self.f1.values()) if self.f1 else None

    @property
    def test_sets(self) -> dict[str, dict[Level, float]]:
        """F1 by test set and level."""
        names = dict.fromkeys(column.rpartition(" ")[0] for column in self.f1)
        return {
            name: {level: self.f1[column] for level in LEVELS if (column := f"{name} {level}") in self.f1}
            for name in names
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the content of `measured.json`."""
        rounded = None if self.mean is None else round(self.mean, 5)
        return {"f1": dict(self.f1), "mean": rounded, "sha256": dict(self.digests)}


@dataclass(frozen=True)
class ModelCard:
    """The facts about a model: its languages, licence, origin, size and test figures.

    Attributes:
        languages: Languages that it was trained for, as the front matter of its card names them.
        licence: Licence of its weights, from the same place; None if the card names none.
        encoder: The encoder that was fine-tuned.
        layer: The encoder's layer.
        trained: Description of the training data.
        bytes: Size on disk.
        measured: Test figures and digests.
    """

    languages: tuple[str, ...]
    licence: str | None
    encoder: str
    layer: int
    trained: str | None
    bytes: int
    measured: Measurements

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the facts from the folder of a model.

        Raises:
            ValueError: If a file is not one of a model.
            OSError: If a file cannot be read.
        """
        try:
            settings = read_json(folder / SETTINGS)
            model = {name: settings[name] for name in ("encoder", "layer")}
        except (ValueError, KeyError) as error:
            raise ValueError(f"{folder / SETTINGS} is not a valid file of settings: {error}") from error
        stated = _read_front_matter((folder / CARD).read_text(encoding="utf-8"))
        return cls(
            read_languages(folder),
            " ".join(stated.get("license", ())) or None,
            **model,
            trained=settings.get("trained"),
            bytes=sum(file.stat().st_size for file in folder.iterdir() if file.is_file()),
            measured=Measurements.read(folder),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as JSON-serializable values."""
        facts = asdict(self) | {"languages": list(self.languages)}
        del facts["measured"]
        return facts | self.measured.to_dict()

    def format_tables(self) -> str:
        """Return the tables of a card: the training, the figures and the digests."""
        text = f"## Model\n\n- Encoder: {self.encoder}, up to layer {self.layer}\n"
        text += f"- Training: {self.trained}\n" if self.trained else ""
        text += f"- Size on disk: {self.bytes / 1e6:.0f} MB"
        if self.measured.mean is not None:
            rows = [
                (name, *(f"{100 * f1[level]:.1f}" if level in f1 else "" for level in LEVELS))
                for name, f1 in self.measured.test_sets.items()
            ]
            rows.append(("mean of all columns", f"**{100 * self.measured.mean:.1f}**", ""))
            table = _format_table(("test set", *LEVELS), "|---|---:|---:|", rows)
            text += f"\n\n## Figures\n\nF1 in percent, links and nulls counted:\n\n{table}"
        rows = [(f"`{name}`", f"`{digest}`") for name, digest in self.measured.digests.items()]
        return f"{text}\n\n## Files\n\n{_format_table(('file', 'SHA-256'), '|---|---|', rows)}"


def read_languages(folder: Path) -> tuple[str, ...]:
    """Return the languages that the front matter of a card names; none without a card or a front matter.

    Args:
        folder: The folder of the model.
    """
    card = folder / CARD
    if not card.is_file():
        return ()
    with card.open(encoding="utf-8", errors="replace") as file:
        return tuple(_read_front_matter(file.read(FRONT_MATTER)).get("language", ()))


def write_measurements(folder: str | Path, f1: Mapping[str, float]) -> Measurements:
    """Record the test figures of a model and the digests of its files.

    They are written to `measured.json`, and to the card between the lines `<!-- measured -->` and
    `<!-- end of measured -->`, if it has them.

    Args:
        folder: The folder of the model.
        f1: F1, from 0 to 1, by test set and level, such as `mtref sure`; may be empty.

    Returns:
        What was written.
    """
    folder = Path(folder)
    measured = Measurements(f1, compute_digests(folder))
    write_atomic(folder / MEASURED, json.dumps(measured.to_dict(), indent=2, allow_nan=False) + "\n")
    card = folder / CARD
    text = card.read_text(encoding="utf-8") if card.is_file() else ""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if begin and end:
        tables = ModelCard.read(folder).format_tables()
        write_atomic(card, f"{before}{BEGIN}\n{tables}\n{END}{after}")
    return measured


def compute_digests(folder: Path) -> dict[str, str]:
    """Compute the SHA-256 digest of every file that determines the output of a model.

    Args:
        folder: The folder of the model.

    Returns:
        Digests by file name.
    """
    others = {MEASURED, CARD, LICENCE}
    files = (path for path in sorted(folder.iterdir()) if path.is_file() and path.name not in others)
    return {path.name: _compute_digest(path) for path in files if path.suffix != ".py"}


def check_digests(folder: Path, package: str = "otalign") -> None:
    """Check that the files of an installed model are those that were measured.

    Args:
        folder: The folder of the model.
        package: The package that it comes from, for the message.

    Raises:
        ValueError: If a file is missing or was changed.
    """
    for name, digest in Measurements.read(folder).digests.items():
        if not (folder / name).is_file() or _compute_digest(folder / name) != digest:
            raise ValueError(
                f"{folder / name} is not the file that {package} was released with; reinstall {package}"
            )


def _compute_digest(file: Path) -> str:
    with file.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def _read_front_matter(card: str) -> dict[str, list[str]]:
    """Return the fields between two lines `---` at the start of a card, as the Hugging Face hub has them.

    A field is `language: en`, `language: [en, de]`, or `language:` followed by a line `- en` for each value.
    """
    fields: dict[str, list[str]] = {}
    values: list[str] = []
    if card.startswith(RULE):
        for line in card.removeprefix(RULE).partition("\n" + RULE)[0].splitlines():
            name, colon, value = line.rpartition(":")
            if colon:
                values = fields.setdefault(name.strip(), [])
            values += [part.strip() for part in value.strip("[]- ").split(",") if part.strip()]
    return fields


def _format_table(header: tuple[str, ...], rule: str, rows: list[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in (header, *rows)]
    return "\n".join((lines[0], rule, *lines[1:]))
