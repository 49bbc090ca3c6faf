"""Damaged and hostile model folders: one line that says what is wrong, or an aligner with finite weights.

Folders are loaded in a separate process with bounded memory, since libraries in C++ and Rust read them
too: a death of that process is a failure.
"""

import json
import math
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from shutil import copytree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otalign.scoring.heads import HEAD_FILE as HEAD
from otalign.settings import SETTINGS
from tests.fuzz import SECONDS, share_of_examples
from tests.fuzz.hostile import changed_bytes, changed_json, fragments
from tests.fuzz.tiny_folder import make_trained, make_untrained

pytest.importorskip("onnx")

MEMORY = 8 << 30  # bytes of address space for the process that loads the folders
PAIRS = [("he bought a used car", "he purchased a car yesterday"), ("", "rain"), ("a", "b c d")]


def load_and_align(folder: str) -> str:
    """Return "aligned", "refused: …", or "broken: …" with what is wrong."""
    from otalign import Aligner

    try:
        found = list(Aligner.load(folder, threads=1, device="cpu").align_many(PAIRS))
    except (ValueError, ImportError, OSError) as error:
        lines = str(error).splitlines()
        return f"refused: {error}" if len(lines) == 1 else f"refused in {len(lines)} lines: {error}"
    except BaseException as error:  # a Rust panic is not an Exception
        return f"broken: {type(error).__module__}.{type(error).__name__}: {error}"
    for alignment in found:
        data = alignment.to_dict()
        try:
            json.dumps(data, allow_nan=False)
        except ValueError:
            return f"broken: not finite: {data}"
        if not all(0 <= link.weight <= 1 and math.isfinite(link.weight) for link in alignment.links):
            return f"broken: weights: {data}"
    return "aligned"


def limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


class Loader:
    """A process that loads folders, replaced when one kills it."""

    def __init__(self):
        self.start()

    def start(self) -> None:
        self.pool = ProcessPoolExecutor(1, get_context("spawn"), limit_memory)

    def __call__(self, folder: Path) -> str:
        try:
            return self.pool.submit(load_and_align, str(folder)).result(timeout=6 * SECONDS)
        except BrokenProcessPool:
            self.start()
            return "broken: the process died"


@pytest.fixture(scope="session")
def loader() -> Iterator[Loader]:
    loader = Loader()
    yield loader
    loader.pool.shutdown(cancel_futures=True)


@pytest.fixture(scope="session")
def folders(tmp_path_factory) -> dict[str, Path]:
    made = {kind: tmp_path_factory.mktemp(kind) for kind in ("trained", "untrained")}
    make_trained(made["trained"])
    make_untrained(made["untrained"])
    return made


def check(loader: Loader, folder: Path, changed: dict[str, bytes], place: Path) -> None:
    """Load the folder with some of its files changed, at `place`."""
    copytree(folder, place, dirs_exist_ok=True)
    for name, content in changed.items():
        (place / name).write_bytes(content)
    became = loader(place)
    assert became == "aligned" or became.startswith("refused: "), became


def test_the_folders_are_sound_before_they_are_changed(loader, folders):
    assert [loader(folder) for folder in folders.values()] == ["aligned"] * 2


JSON_FILES = [("trained", SETTINGS), ("untrained", SETTINGS), ("trained", "tokenizer.json")]


@pytest.mark.parametrize(("kind", "name"), JSON_FILES)
@share_of_examples(0.5)
@given(data=st.data())
def test_a_hostile_json_file_is_refused_in_one_line_or_aligns(
    kind, name, data, loader, folders, tmp_path_factory
):
    whole = (folders[kind] / name).read_bytes()
    content = data.draw(changed_json(json.loads(whole)) | changed_bytes(whole) | fragments)
    check(loader, folders[kind], {name: content}, tmp_path_factory.getbasetemp() / f"{kind} {name}")


BINARY_FILES = [
    ("trained", HEAD),
    ("trained", "encoder.onnx"),
    ("untrained", "mean.npy"),
    ("untrained", "stretch.npy"),
]


@pytest.mark.parametrize(("kind", "name"), BINARY_FILES)
@share_of_examples(0.5)
@given(data=st.data())
def test_a_damaged_file_of_weights_is_refused_in_one_line_or_aligns(
    kind, name, data, loader, folders, tmp_path_factory
):
    content = data.draw(changed_bytes((folders[kind] / name).read_bytes()))
    check(loader, folders[kind], {name: content}, tmp_path_factory.getbasetemp() / f"{kind} {name}")


@pytest.mark.parametrize(
    "name", ["config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"]
)
@settings(share_of_examples(0.1), suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_hostile_folder_of_hugging_face_is_refused_in_one_line_or_aligns(
    name, data, loader, tiny_model, tmp_path_factory
):
    folder = tiny_model("bert")
    whole = (folder / name).read_bytes()
    changed = changed_bytes(whole)
    if name.endswith(".json"):
        changed |= changed_json(json.loads(whole))
    check(loader, folder, {name: data.draw(changed)}, tmp_path_factory.getbasetemp() / f"hugging face {name}")
