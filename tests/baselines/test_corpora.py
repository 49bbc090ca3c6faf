"""The baselines on the paper's corpora, if available: the links of the original tools, and their scores."""

from functools import cache

import pytest

from otalign.alignment import Alignment, Link
from otalign.baselines import FastAlign, symmetrise
from otalign.io import read
from otalign.metrics import compute_scores, count
from tests.corpus_data import DATA, load_corpus, needs_data

TOOL = {  # test F1 of fast_align itself with grow-diag-final-and
    ("msr-rte", "sure"): 44.0,
    ("msr-rte", "possible"): 43.0,
    ("newsela", "sure"): 60.9,
    ("newsela", "possible"): 58.7,
    ("edinburgh++", "sure"): 60.1,
    ("edinburgh++", "possible"): 61.2,
    ("mtref", "sure"): 58.0,
    ("mtref", "possible"): 57.9,
    ("arxiv", "sure"): 80.8,
    ("arxiv", "possible"): 80.9,
    ("wiki", "sure"): 87.2,
}


def tool_links(name, ending):
    path = DATA / "peers" / "fast_align" / f"{name}.{ending}"
    if not path.exists():
        pytest.skip(f"the tool's links are not here: {path}")
    return [links.sure for links in read(path, "pharaoh")]


@cache
def trained_on(name):
    """Return the pairs that the paper trains on: all splits, and MTRef's if a corpus has only a test set."""
    front = "mtref" if name in ("newsela", "arxiv") else name
    golds = [*load_corpus(front, "train"), *load_corpus(front, "dev"), *load_corpus(name, "test")]
    return FastAlign().train([(gold.source, gold.target) for gold in golds])


@needs_data
@pytest.mark.parametrize(("name", "file"), [("edinburgh++", "edinburgh"), ("mtref", "mtref")])
def test_both_directions_give_the_links_of_the_tool(name, file):
    aligned = trained_on(name).aligned
    for direction, ending in ((aligned.forward, "fwd"), (aligned.reverse, "rev")):
        expected = tool_links(file, ending)
        different = sum(len(ours ^ theirs) for ours, theirs in zip(direction, expected, strict=True))
        # Rounding decides between near ties, and it is not the same on all processors.
        assert different <= sum(map(len, expected)) / 5_000


@needs_data
@pytest.mark.parametrize("file", ["edinburgh", "mtref"])
def test_symmetrised_links_are_those_of_the_tool(file):
    directions = zip(tool_links(file, "fwd"), tool_links(file, "rev"), strict=True)
    assert [symmetrise(*both) for both in directions] == tool_links(file, "grow-diag-final-and")


@needs_data
@pytest.mark.parametrize("name", dict.fromkeys(name for name, _ in TOOL))
def test_scores_are_those_of_the_tool(name):
    golds = load_corpus(name, "test")
    links = trained_on(name).aligned.symmetrise()[-len(golds) :]
    predicted = [
        Alignment(gold.source, gold.target, tuple(Link(*pair) for pair in pairs))
        for gold, pairs in zip(golds, links, strict=True)
    ]
    for level in ("sure", "possible"):
        if (name, level) in TOOL:
            f1 = 100 * compute_scores(count(predicted, golds, level))["f1"]
            assert f1 == pytest.approx(TOOL[name, level], abs=0.06)
