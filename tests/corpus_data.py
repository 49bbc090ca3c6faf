"""The folder of the corpora, for tests that are skipped without it."""

import os
from functools import cache
from pathlib import Path

import pytest

from otalign.gold import Gold
from otalign.io import load

DATA = Path(os.environ.get("OTALIGN_DATA") or Path(__file__).parents[2] / "shared" / "data")


def needs_file(name: str) -> pytest.MarkDecorator:
    """Skip a test if a file or folder of the corpora is missing."""
    return pytest.mark.skipif(not (DATA / name).exists(), reason="the corpora are missing; set OTALIGN_DATA")


needs_data = needs_file("")


@cache
def load_corpus(name: str, split: str) -> tuple[Gold, ...]:
    """Load a split of a corpus, once for all tests of this process."""
    return load(name, split, DATA)
