"""A data folder with the layout of the six corpora and a few random pairs in each file, and quick rows."""

from dataclasses import replace

import numpy as np
import pytest

from experiments.unsupervised import ROWS
from experiments.unsupervised.simalign import SimAlignRow
from experiments.unsupervised.transport import TransportRow
from otalign.gold import Gold
from otalign.io import CORPORA, write
from otalign.io import corpora as datasets
from otalign.ot import Entropic
from tests.encoders.tiny import WORDS

PAIRS = 7


def make_random_gold(rng) -> Gold:
    source = rng.choice(WORDS, size=rng.integers(2, 7), replace=False).tolist()
    target = rng.permutation([*source[1:], *rng.choice(WORDS, size=rng.integers(0, 3))]).tolist()
    links = [(i, target.index(word)) for i, word in enumerate(source) if word in target]
    return Gold(source, target, set(links[:-1] or links), set(links))


def write_corpus(folder, name, golds):
    """Write the files of a split, in the format of its corpus."""
    for file in golds[1]:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
    paths = [folder / file for file in golds[1]]
    match name:
        case "msr-rte":
            for path in paths:
                write(golds[0], path, "msr-rte")
        case "edinburgh++":
            for path, level in zip(paths, ("sure", "possible"), strict=True):
                write([gold.alignment(level) for gold in golds[0]], path, "columns")
        case "wiki":
            write([Gold(gold.source, gold.target, gold.sure) for gold in golds[0]], paths[0], "multimwa")
        case _:
            write(golds[0], paths[0], "multimwa")


@pytest.fixture(scope="session")
def corpora(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpora")
    rng = np.random.default_rng(0)
    for name, corpus in CORPORA.items():
        for split, files in corpus.files.items():
            both = name == "msr-rte" and split != "test"  # its train and dev sets are one file
            write_corpus(
                folder, name, ([make_random_gold(rng) for _ in range(PAIRS * (2 if both else 1))], files)
            )
    return folder


@pytest.fixture(scope="session", autouse=True)
def quick():
    """Give every row a small grid and few iterations; the quality of the systems is not tested."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets, "MSR_TRAIN_PAIRS", PAIRS)
        for name, row in ROWS.items():
            if isinstance(row, TransportRow):
                few = {"distortions": row.distortions and (0.0, 0.3), "parameters": row.parameters[4::5]}
                hasty = {"solver": Entropic(max_iterations=20)} if row.solver == Entropic() else {}
                patch.setitem(ROWS, name, replace(row, **few, **hasty, reach=1, seekers=(0.2,)))
            elif isinstance(row, SimAlignRow):
                patch.setitem(ROWS, name, replace(row, distortions=(0.0, 0.3)))
        yield


@pytest.fixture(scope="session")
def model(tiny_model):
    return tiny_model("bert")
