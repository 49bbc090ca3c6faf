import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from tests.browser import Browser, Page
    from tests.commands import CommandServer

# Processes of tests share the processors, and a thread for each of them in every process is slower.
os.environ["OMP_NUM_THREADS"] = "1"
# Those of Ray start sooner without what stands here.
STUBS = str(Path(__file__).parent / "stubs")
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (STUBS, os.environ.get("PYTHONPATH"))))
sys.path.insert(0, STUBS)

# The machine's speed is nobody's bug, and a failure must come again when the test is run again.
settings.register_profile("otalign", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("otalign")
# For `make fuzz`: --hypothesis-profile=fuzz. Failing examples are kept in .hypothesis and are tried first.
settings.register_profile(
    "fuzz",
    deadline=None,
    max_examples=200,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


COSTLY = ("browser", "cluster", "trained")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let one process of a run have all tests of a fixture that takes long to set up."""
    for item in items:
        for name in set(COSTLY) & set(item.fixturenames):  # pyright: ignore[reportAttributeAccessIssue]
            item.add_marker(pytest.mark.xdist_group(name))


@pytest.fixture(scope="session", autouse=True)
def no_waiting_for_the_disk() -> Iterator[None]:
    """Skip fsync, which takes milliseconds each time: power does not fail during a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda file: None)
        yield


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory) -> Callable[[str, Callable[[Path], None]], Path]:
    """Return a function that makes a folder once for all processes of a test run."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def get(name: str, fill: Callable[[Path], None]) -> Path:
        folder, ready = base / "shared" / name, base / "shared" / f"{name}.ready"
        folder.parent.mkdir(exist_ok=True)
        try:
            folder.mkdir()
        except FileExistsError:  # another test, or another process, makes it or has made it
            for _ in range(6000):
                if ready.exists():
                    return folder
                time.sleep(0.05)
            raise TimeoutError(f"{folder} was not made by another process") from None
        fill(folder)
        ready.touch()
        return folder

    return get


@pytest.fixture(scope="session")
def tiny_model(shared_folder) -> Callable[..., Path]:
    """Return a function that returns the folder of a tiny model, made on first use."""
    import torch

    from tests.encoders import tiny

    torch.set_num_threads(1)  # so little work is done before a second thread has begun

    def folder(kind: str, positions: int = tiny.POSITIONS) -> Path:
        return shared_folder(f"{kind}-{positions}", lambda path: tiny.model(kind, path, positions))

    return folder


@pytest.fixture(scope="session")
def exported(tiny_model, shared_folder) -> Callable[..., Path]:
    """Return a function that returns the folder of an exported tiny model, made once in seconds."""
    import onnx

    from otalign.encoders.export import export
    from otalign.encoders.transformers import Transformers

    def folder(kind: str, layer: int, int8: bool = False) -> Path:
        def fill(path: Path) -> None:
            original = Transformers(str(tiny_model(kind)), layer, device="cpu")
            with pytest.MonkeyPatch.context() as patch:
                if int8:  # the graph in float32 takes longest to make
                    graph = onnx.load(folder(kind, layer) / "encoder.onnx")
                    patch.setattr("otalign.encoders.export.make_graph", lambda _: graph)
                assert "words compared: largest difference" in export(original, path, int8=int8)

        return shared_folder(f"exported-{kind}-{layer}{'-int8' if int8 else ''}", fill)

    return folder


@pytest.fixture(scope="session")
def command_server() -> "Iterator[CommandServer]":
    """Run commands in processes of their own, without importing the package each time."""
    from tests.commands import CommandServer

    server = CommandServer()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def cluster() -> Iterator[None]:
    """Start a Ray cluster for all tests, since that takes seconds."""
    pytest.importorskip("ray.data", reason="Ray is not installed")
    from otalign.engines import ray

    with ray.start_cluster(None, 3):
        yield


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """Return one browser for all tests, since starting it takes a second."""
    from tests.browser import Browser, chromium

    if chromium() is None:
        pytest.skip("there is no Chromium to open a page in")
    with Browser() as browser:
        yield browser


@pytest.fixture
def page(browser: "Browser") -> "Iterator[Page]":
    with browser.page() as page:
        yield page
