"""The file of an aligner's folder that holds its settings."""

import json
from pathlib import Path
from typing import Any

import otalign
from otalign.atomic import write_atomic
from otalign.settings.learned import LEARNED, LearnedSettings
from otalign.settings.transport import Settings
from otalign.untrusted import read_json

SETTINGS = "otalign.json"
AnySettings = Settings | LearnedSettings


def read_settings(data: dict[str, Any]) -> AnySettings:
    """Return the settings of an aligner, as either `to_dict` wrote them."""
    problem = data.get("problem")
    learned = isinstance(problem, dict) and problem.get("name") == LEARNED
    return (LearnedSettings if learned else Settings).from_dict(data)


def load_settings(folder: Path) -> AnySettings | None:
    """Return the settings of the aligner in a folder, or None if there is none.

    Raises:
        ValueError: If the file is not one that `Aligner.save` writes.
    """
    file = folder / SETTINGS
    if not file.is_file():
        return None
    try:
        data = read_json(file)
        data.pop("version", None)
        return read_settings(data)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{file} is not a valid file of settings: {error}") from error


def save_settings(settings: AnySettings, folder: Path) -> None:
    """Write settings, with the version of otalign, to a folder."""
    text = json.dumps(settings.to_dict() | {"version": otalign.__version__}, allow_nan=False, indent=2)
    write_atomic(folder / SETTINGS, text + "\n")
