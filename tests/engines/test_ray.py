"""Ray writes the same files as a local run, even if an actor and the reader are killed."""

import json
import os
import signal
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

from otalign import Aligner
from otalign.alignment import Alignment
from otalign.engines import Folder, OutputFormat, RayOptions, ShardWork, align
from otalign.engines.cluster import start_cluster
from otalign.io import TextPair, read
from otalign.io.parquet import Rows
from tests.engines.test_same_links import check_same, load, read_shards
from tests.engines.test_shards import SIZE, drawn_pairs, read_bytes

pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed"),
    pytest.mark.filterwarnings("ignore"),  # Ray's own, of which there are many
]

ITEMS = [TextPair(pair["source"], pair["target"]) for pair in drawn_pairs()]
DEADLY = 60  # the pair at which a process that aligns is killed
DEADLY_WORDS = tuple(ITEMS[DEADLY].source.split())


def die_once(grave: Path) -> None:
    if not grave.exists():
        grave.touch()
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Mortal:
    """An aligner whose process is killed in the middle of a shard, the first time."""

    aligner: Aligner
    graves: Path

    @property
    def signature(self) -> str:
        return self.aligner.signature

    def align(self, source, target) -> Alignment:
        return self.aligner.align(source, target)

    def align_many(self, pairs: Iterable) -> Iterator[Alignment]:
        (self.graves / f"aligned-by-{os.getpid()}").touch()
        for alignment in self.aligner.align_many(pairs):
            yield alignment
            if alignment.source == DEADLY_WORDS:
                die_once(self.graves / "aligner")


@dataclass(frozen=True)
class MortalItems:
    """The items of a file, whose reader is killed at one of them, the first time, after others were aligned.
    The driver reads them too, and lives."""

    items: Iterable[TextPair]
    graves: Path
    driver: int

    def __iter__(self) -> Iterator[TextPair]:
        for k, item in enumerate(self.items):
            if k == 8 * SIZE and os.getpid() != self.driver:
                for _ in range(600):
                    if (self.graves / "aligner").exists():
                        break
                    time.sleep(0.1)
                die_once(self.graves / "reader")
            yield item


@dataclass(frozen=True)
class Loading:
    """A function that loads the aligner in each process."""

    model: Path
    graves: Path | None = None

    def __call__(self):
        aligner = Aligner.load(self.model, threads=1, centring=False)
        return aligner if self.graves is None else Mortal(aligner, self.graves)


@pytest.fixture(scope="module")
def int8(exported) -> Path:
    return exported("bert", 3, int8=True)


def write_inputs(folder: Path) -> dict[str, Iterable[TextPair]]:
    """Write the items into files, and return readers of them by format."""
    import pyarrow as arrow
    from pyarrow import parquet

    rows = [item._asdict() for item in ITEMS]
    (folder / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    parquet.write_table(arrow.Table.from_pylist(rows), folder / "pairs.parquet")
    return {"jsonl": read(folder / "pairs.jsonl", "jsonl"), "parquet": Rows(folder / "pairs.parquet")}


def test_two_actors_one_of_them_and_the_reader_killed_lose_and_double_nothing(cluster, int8, tmp_path):
    form = OutputFormat("parquet")  # other tests write JSON
    align(ITEMS, ShardWork(Folder(tmp_path / "local", form), Loading(int8)), {}, size=SIZE)
    expected = read_bytes(tmp_path / "local")

    (graves := tmp_path / "graves").mkdir()
    inputs, reports = write_inputs(tmp_path), []
    work = ShardWork(Folder(tmp_path / "out", form), Loading(int8, graves))
    items = MortalItems(inputs["jsonl"], graves, os.getpid())
    options = {"size": SIZE, "ray": RayOptions()}
    align(items, work, {}, **options, processes=2, progress=lambda *report: reports.append(report))
    assert (graves / "aligner").exists()
    assert (graves / "reader").exists()
    assert len(list(graves.glob("aligned-by-*"))) == 3  # two, and one in the place of one
    assert read_bytes(tmp_path / "out") == expected
    assert reports[-1] == ("aligning", len(ITEMS), None)

    for number in (2, 7):
        work.folder.part(number).unlink()
    align(inputs["parquet"], work, {}, **options, resume=True)
    assert read_bytes(tmp_path / "out") == expected


@pytest.mark.parametrize("centring", [True, None])
def test_a_pair_has_the_same_links_through_ray_as_alone(cluster, exported, centring, tmp_path):
    model, items = exported("bert", 3), ITEMS[: 2 * SIZE]
    form = OutputFormat("jsonl", phrases=True)
    work = ShardWork(Folder(tmp_path / "out", form), partial(load, model, centring=centring))
    align(items, work, {}, size=SIZE, ray=RayOptions())
    aligner = load(model, centring)
    if centring:
        aligner = aligner.fit_centre(items)
    found = read_shards(tmp_path / "out")  # which checks that the phrases are those of the links
    assert all("phrase_links" in (one.fields or {}) for one in found)
    check_same(found, (aligner.align(*item) for item in items))


def test_what_is_wrong_is_raised_as_it_was_there(cluster, int8, tmp_path):
    (tmp_path / "bad.jsonl").write_text('{"source": "a", "target": "b"}\n' * SIZE + "{\n")
    work = ShardWork(Folder(tmp_path / "out", OutputFormat("jsonl")), Loading(int8))
    with pytest.raises(ValueError, match=rf"bad\.jsonl, line {SIZE + 1}: found"):
        align(read(tmp_path / "bad.jsonl", "jsonl"), work, {}, size=SIZE, ray=RayOptions())
    with pytest.raises(ValueError, match="not-there"):
        align(ITEMS, replace(work, load=Loading(Path("not-there"))), {}, ray=RayOptions())
    with pytest.raises(ValueError, match="--gpus must be at most 0, the number on this machine, got 1000"):
        align(ITEMS, work, {}, ray=RayOptions(gpus=1000))


def test_a_cluster_that_does_not_start_is_an_error_of_one_line(monkeypatch):
    def time_out(**_: object) -> None:
        raise Exception("The current node timed out during startup.")

    monkeypatch.setattr("ray.is_initialized", lambda: False)
    monkeypatch.setattr("ray.init", time_out)
    with (
        pytest.raises(OSError, match=r"Ray cannot start; .*: The current node timed out"),
        start_cluster(None, 1),
    ):
        pass
