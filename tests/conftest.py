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

# Test processes share the CPUs, and a thread per CPU in each of them would be slower.
os.environ["OMP_NUM_THREADS"] = "1"
# Those of Ray start sooner without what stands here.
STUBS = str(Path(__file__).parent / "stubs")
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (STUBS, os.environ.get("PYTHONPATH"))))
sys.path.insert(0, STUBS)

# The speed of the machine is not a bug, and failures must be reproducible.
settings.register_profile("otalign", deadline=None, derandomize=True, max_examples=25)
settings.load_profile("otalign")
# For `make fuzz`: --hypothesis-profile=fuzz. Failing examples are kept in .hypothesis and are tried first.
settings.register_profile(
    "fuzz",
    deadline=None,
    max_examples=200,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


# Files that share a slow setup: a fixture, or corpora in memory.
GROUPS = {
    "cluster": ("tests/engines/test_ray.py", "tests/failures/test_ray.py"),
    "trained_aligners": ("tests/training/test_fit.py", "tests/training/test_distillation.py"),
    "corpora in memory": ("tests/baselines/test_corpora.py", "tests/io/test_datasets.py"),
}
# Short groups should start last. Ray mostly waits, training computes.
FIRST = (*GROUPS, "tests/test_privacy.py", "tests/engines/test_shards.py", "tests/training/test_run.py")


def find_group(nodeid: str) -> str:
    """Return the group of a test, which one process of a run gets as a whole: its file, or several files."""
    file = nodeid.partition("::")[0]
    return next((name for name, files in GROUPS.items() if file in files), file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    from xdist.scheduler import LoadScopeScheduling

    class GroupScheduling(LoadScopeScheduling):
        _split_scope = staticmethod(find_group)

    return GroupScheduling(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the groups that take longest, and check that fixtures of a group are not used elsewhere."""
    for item in items:
        for name in GROUPS.keys() & set(item.fixturenames):  # pyright: ignore[reportAttributeAccessIssue]
            assert find_group(item.nodeid) == name, f"{item.nodeid} uses {name}: add its file to GROUPS"
    order = {name: number for number, name in enumerate(FIRST)}
    items.sort(key=lambda item: order.get(find_group(item.nodeid), len(order)))


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
    from otalign.encoders.export import export
    from otalign.encoders.transformers import Transformers

    def folder(kind: str, layer: int, int8: bool = False) -> Path:
        def fill(path: Path) -> None:
            original = Transformers(str(tiny_model(kind)), layer, device="cpu")
            with pytest.MonkeyPatch.context() as patch:
                if int8:
                    use_graph(folder(kind, layer), patch)
                result = export(original, path, int8=int8)
                bound = "(at least 0.9 is needed)" if int8 else "(at most 0.0001 is allowed)"
                assert "words compared with the original, " in result
                assert result.endswith(bound), result

        return shared_folder(f"exported-{kind}-{layer}{'-int8' if int8 else ''}", fill)

    return folder


def use_graph(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Let further exports of an encoder start from the graph of the first, which takes seconds to make."""
    import onnx

    graph = onnx.load(folder / "encoder.onnx")
    patch.setattr("otalign.encoders.export.make_graph", lambda original: graph)


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
    from otalign.engines.cluster import start_cluster

    with pytest.MonkeyPatch.context() as patch:
        for monitor in ("start_monitor", "start_log_monitor"):  # processes that no test needs
            patch.setattr(f"ray._private.node.Node.{monitor}", lambda node: None)
        with start_cluster(None, 3):
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
def page(browser: "Browser") -> "Page":
    return browser.shared_page()
