"""Comparison with known figures: NLTK's AER, and the output of a public aligner on public corpora."""

from pathlib import Path

import pytest
from hypothesis import given

from otalign.metrics import Counts, compute_scores, count_pair
from tests.corpus_data import DATA, needs_file
from tests.metrics.random_counts import corpora


@given(corpora, corpora)
def test_aer_is_that_of_nltk(pairs, others):
    nltk = pytest.importorskip("nltk.translate", reason="NLTK is not installed")
    rows, A, S, P = [], set(), set(), set()
    for k, (predicted, gold, n, m) in enumerate(pairs):
        possible = {(i, j) for i, j in others[k % len(others)][0] if i < n and j < m}
        rows.append(count_pair(predicted, gold, n, m, possible=possible))
        # One set for all pairs: each pair's words are numbered on.
        for all_links, links in ((A, predicted), (S, gold), (P, gold | possible)):
            all_links |= {(10 * k + i, 10 * k + j) for i, j in links}
    expected = nltk.alignment_error_rate(S, A, P) if A or S else 0
    assert compute_scores(Counts.concatenate(rows))["aer"] == pytest.approx(expected, abs=1e-12)


def columns(path: Path) -> list[list[str]]:
    lines = path.read_text(encoding="utf-8").split("\n")
    return [line.split("\t") for line in lines if line]


def links(text: str, swapped: bool = False) -> set[tuple[int, int]]:
    pairs = [tuple(map(int, link.split("-"))) for link in text.split()]
    return {(j, i) if swapped else (i, j) for i, j in pairs}


def mtref_gold():
    for row in columns(DATA / "multimwa/MultiMWA-MTRef/mtref-test.tsv"):
        yield len(row[3].split()), len(row[1].split()), links(row[7], True), links(row[8], True)


def edinburgh_gold():
    folder = DATA / "edinburgh/preprocessed"
    for sure, both in zip(
        columns(folder / "sure_test.txt"), columns(folder / "sure-and-possible_test.txt"), strict=True
    ):
        assert sure[:2] == both[:2]
        yield len(sure[0].split()), len(sure[1].split()), links(sure[2]), links(both[2])


@needs_file("peers/fast_align")
@pytest.mark.parametrize(
    ("name", "gold", "f1", "null_rate"),
    [
        ("mtref", mtref_gold, {"sure": 58.0, "possible": 57.9}, {"sure": 18.73, "possible": 11.22}),
        ("edinburgh", edinburgh_gold, {"sure": 60.1, "possible": 61.2}, {"sure": 27.40, "possible": 19.00}),
    ],
)
def test_fast_align_scores_what_is_known_of_it(name, gold, f1, null_rate):
    gold = list(gold())
    lines = (DATA / f"peers/fast_align/{name}.grow-diag-final-and").read_text().split("\n")[:-1]
    predicted = [links(line) for line in lines[-len(gold) :]]
    for level in ("sure", "possible"):
        counts = Counts.concatenate(
            count_pair(guess, sure, n, m, possible=possible, level=level)
            for guess, (n, m, sure, possible) in zip(predicted, gold, strict=True)
        )
        assert 100 * compute_scores(counts)["f1"] == pytest.approx(f1[level], abs=0.05)
        assert 100 * counts.null_rate.mean() == pytest.approx(null_rate[level], abs=0.005)
