"""Ray writes what the local run writes, also when an actor is killed while it works."""

import os
import signal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from otalign import Aligner
from otalign.alignment import Alignment
from otalign.corpus import TextPair
from otalign.engines import Folder, Form, Work, align

from .test_shards import SIZE, bytes_of, drawn_pairs

pytest.importorskip("ray.data", reason="Ray is not installed")
# Ray's own, of which there are many.
pytestmark = pytest.mark.filterwarnings("ignore")

ITEMS = [TextPair(pair["source"], pair["target"]) for pair in drawn_pairs()]
DEADLY = 60  # the pair at which the process is killed


@dataclass(frozen=True)
class Mortal:
    """An aligner whose process is killed in the middle of a shard, the first time."""

    aligner: Aligner
    grave: Path

    @property
    def signature(self) -> str:
        return self.aligner.signature

    def align(self, source, target) -> Alignment:
        return self.aligner.align(source, target)

    def align_many(self, pairs: Iterable) -> Iterator[Alignment]:
        for alignment in self.aligner.align_many(pairs):
            yield alignment
            if alignment.source == DEADLY_WORDS and not self.grave.exists():
                self.grave.touch()
                os.kill(os.getpid(), signal.SIGKILL)


DEADLY_WORDS = tuple(ITEMS[DEADLY].source.split())


@dataclass(frozen=True)
class Loading:
    """What loads the aligner in each process."""

    model: Path
    grave: Path | None = None

    def __call__(self):
        aligner = Aligner.load(self.model, threads=1, centring=False)
        return aligner if self.grave is None else Mortal(aligner, self.grave)


@pytest.fixture(scope="module")
def int8(exported) -> Path:
    return exported("bert", 2, int8=True)


@pytest.fixture(scope="module")
def expected(int8, tmp_path_factory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("local")
    align(ITEMS, Work(Folder(folder, Form("jsonl")), Loading(int8)), {}, size=SIZE)
    return bytes_of(folder)


def test_two_actors_one_of_them_killed_lose_and_double_nothing(int8, expected, tmp_path):
    from otalign.engines import ray

    grave, told = tmp_path / "grave", []
    work = Work(Folder(tmp_path / "out", Form("jsonl")), Loading(int8, grave))
    ray.align(ITEMS, work, {}, size=SIZE, processes=2, tell=told.append)
    assert grave.exists()
    assert bytes_of(tmp_path / "out") == expected
    assert sum(told) == len(ITEMS)
    for part in ("part-000002.jsonl", "part-000007.jsonl"):
        (tmp_path / "out" / part).unlink()
    ray.align(ITEMS, work, {}, size=SIZE, processes=2, resume=True)
    assert bytes_of(tmp_path / "out") == expected
