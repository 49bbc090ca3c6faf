"""The folder of the corpora, for tests that are skipped without it."""

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("OTALIGN_DATA") or Path(__file__).parents[2] / "shared" / "data")


def needs_file(name: str) -> pytest.MarkDecorator:
    """Skip a test if a file or folder of the corpora is missing."""
    return pytest.mark.skipif(not (DATA / name).exists(), reason="the corpora are missing; set OTALIGN_DATA")


needs_data = needs_file("")
