"""The same pair has the same links: alone, in a stream, in another order, in shards, and through Ray.

This is the law for encoders that calculate in floating point. What is batched together changes their numbers
in the last digits alone.
"""

import json
import random
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from otalign import Aligner
from otalign.alignment import Alignment
from otalign.corpus import TextPair
from otalign.engines import Folder, Form, Work, align

from .test_shards import drawn_pairs

ITEMS = [TextPair(**pair) for pair in drawn_pairs()]
SIZE = 32


@pytest.fixture(scope="module")
def model(exported) -> Path:
    return exported("bert", 2)


@dataclass(frozen=True)
class Links:
    """Links of a pair, to be compared with those of the same pair elsewhere."""

    alignment: Alignment

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, Links)
        here, there = self.alignment, other.alignment
        weights = [[link.weight for link in one.links] for one in (here, there)]
        return here.pairs == there.pairs and weights[0] == pytest.approx(weights[1], abs=1e-5)


def links_of(folder: Path) -> list[Links]:
    lines = [line for part in sorted(folder.glob("part-*")) for line in part.read_text().splitlines()]
    return [Links(Alignment.from_dict(json.loads(line))) for line in lines]


@pytest.mark.parametrize("centring", [True, False])
def test_a_pair_has_the_same_links_alone_in_any_order_and_in_shards(model, centring, tmp_path):
    align(ITEMS, Work(Folder(tmp_path / "out", Form("jsonl")), partial(load, model, centring)), {}, size=SIZE)
    found = links_of(tmp_path / "out")
    assert sum(len(one.alignment.links) for one in found) > len(ITEMS)

    aligner = load(model, centring)
    if centring:  # a run centres all of its shards on one centre, that of the beginning of the corpus
        aligner = aligner.centred_on(ITEMS)
    assert found == [Links(aligner.align(*item)) for item in ITEMS]
    assert found == [Links(one) for one in aligner.align_many(ITEMS)]
    order = random.Random(5).sample(range(len(ITEMS)), len(ITEMS))
    shuffled = aligner.align_many([ITEMS[k] for k in order])
    assert [found[k] for k in order] == [Links(one) for one in shuffled]


def load(model: Path, centring: bool) -> Aligner:
    return Aligner.load(model, threads=1, centring=centring)


@pytest.mark.filterwarnings("ignore")  # Ray's own, of which there are many
def test_a_pair_has_the_same_links_through_ray(model, tmp_path):
    pytest.importorskip("ray.data", reason="Ray is not installed")
    from otalign.engines import ray

    items = ITEMS[: 2 * SIZE]
    work = Work(Folder(tmp_path / "out", Form("jsonl")), partial(load, model, True))
    ray.align(items, work, {}, size=SIZE)
    aligner = load(model, True).centred_on(items)
    assert links_of(tmp_path / "out") == [Links(aligner.align(*item)) for item in items]
