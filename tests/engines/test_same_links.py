"""A pair has the same links alone, in a stream, in another order, and in shards.

`test_ray` adds Ray, and `test_api` the server. It holds for encoders in float32 and the shipped one in int8.
"""

import json
import random
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import pytest

from otalign import Aligner
from otalign.alignment import Alignment
from otalign.engines import Folder, OutputFormat, ShardWork, align
from otalign.io import TextPair
from tests.engines.test_shards import drawn_pairs

ITEMS = [TextPair(**pair) for pair in drawn_pairs()][:100]
SIZE = 16


@pytest.fixture(scope="module")
def model(exported) -> Path:
    return exported("bert", 3)


def read_shards(folder: Path) -> list[Alignment]:
    lines = [line for part in sorted(folder.glob("part-*")) for line in part.read_text().splitlines()]
    return [Alignment.from_dict(json.loads(line)) for line in lines]


def check_same(found: Iterable[Alignment], expected: Iterable[Alignment]) -> None:
    for one, other in zip(found, expected, strict=True):
        assert one.pairs == other.pairs
        weights = [[link.weight for link in alignment.links] for alignment in (one, other)]
        assert weights[0] == pytest.approx(weights[1], abs=1e-3)


@pytest.mark.parametrize("centring", [True, False, None])
def test_a_pair_has_the_same_links_alone_in_any_order_and_in_shards(model, centring, tmp_path):
    align(
        ITEMS,
        ShardWork(Folder(tmp_path / "out", OutputFormat("jsonl")), partial(load, model, centring)),
        {},
        size=SIZE,
    )
    found = read_shards(tmp_path / "out")
    assert sum(len(alignment.links) for alignment in found) > len(ITEMS)

    aligner = load(model, centring)
    if centring:  # a run centres all of its shards on one centre, that of the beginning of the corpus
        aligner = aligner.fit_centre(ITEMS)
    check_same(found, (aligner.align(*item) for item in ITEMS))
    check_same(found, aligner.align_many(ITEMS))
    order = random.Random(5).sample(range(len(ITEMS)), len(ITEMS))
    check_same((found[k] for k in order), aligner.align_many(ITEMS[k] for k in order))


def load(model: Path, centring: bool | None) -> Aligner:
    """Load the encoder with or without centring, or, for None, the aligner that comes with the package."""
    return Aligner.load(threads=1) if centring is None else Aligner.load(model, threads=1, centring=centring)
