"""Pages lay out alignments as pictures do: the functions of layout.js are those of Python."""

import json
import random

import pytest

from otalign.phrases import find_phrase_links
from otalign.render.assets import asset
from otalign.render.groups import group_links
from otalign.render.layout import leftwards
from otalign.render.lines import break_lines
from otalign.render.placing import place_words

CASES = 150


def call(page, function: str, arguments: list[list]) -> list:
    """Call a function of the script once with each of several lists of arguments."""
    page.open("about:blank")
    return page.evaluate(f"{asset('layout.js')}; {json.dumps(arguments)}.map((one) => {function}(...one))")


def make_pairs(rng: random.Random, n: int, m: int) -> list[tuple[int, int]]:
    """Return random pairs, most of them near the diagonal."""
    near = {
        (i, min(m - 1, max(0, i * m // n + rng.randint(-2, 2)))) for i in range(n) if m and rng.random() < 0.8
    }
    far = {(rng.randrange(n), rng.randrange(m)) for _ in range(3)} if n and m else set()
    return sorted(near | far)


def test_words_are_placed_at_the_same_places(page):
    rng, cases = random.Random(1), []
    for _ in range(CASES):
        source, target = ([rng.randint(10, 80) for _ in range(rng.randint(0, 9))] for _ in range(2))
        room = max(sum(source), sum(target)) + 60 + rng.randint(0, 300)
        cases.append([source, target, make_pairs(rng, len(source), len(target)), 6, room])
    for case, found in zip(cases, call(page, "placeWords", cases), strict=True):
        for row, xs in zip(found, place_words(*case), strict=True):
            assert [round(x, 6) for x in row] == [round(x, 6) for x in xs]


def test_sentences_break_at_the_same_words(page):
    rng, cases = random.Random(2), []
    for _ in range(CASES):
        source, target = ([rng.randint(10, 80) for _ in range(rng.randint(0, 30))] for _ in range(2))
        pairs = make_pairs(rng, len(source), len(target))
        cases.append([source, target, pairs, 6, rng.choice([60, 300, 900])])
    for case, found in zip(cases, call(page, "breakLines", cases), strict=True):
        expected = [{"source": [*line.source], "target": [*line.target]} for line in break_lines(*case)]
        assert found == expected


def test_links_are_grouped_in_the_same_way(page):
    rng = random.Random(3)
    cases = [make_pairs(rng, rng.randint(1, 9), rng.randint(1, 9)) for _ in range(CASES)]
    cases += [[(i, j) for i in range(3) for j in range(2)]]
    grouped = "(...links) => groupLinks(links).map(({ source, target }) => [source, target])"
    for case, found in zip(cases, call(page, f"({grouped})", cases), strict=True):
        assert sorted(found) == [[[*group.source], [*group.target]] for group in group_links(case)]


def test_pages_find_the_same_phrases(page):
    rng = random.Random(4)
    cases = [make_pairs(rng, rng.randint(1, 9), rng.randint(1, 9)) for _ in range(CASES)]
    cases = [[(i, j, rng.randint(1, 99) / 100) for i, j in pairs] for pairs in cases]
    listed = "({ source, target, type, weight }) => [[...source], [...target], type, weight]"
    phrases = call(page, f"((...links) => phrasesOf(links).map({listed}))", cases)
    for case, found in zip(cases, phrases, strict=True):
        expected = find_phrase_links(case)
        ordered = sorted((sorted(source), sorted(target), *more) for source, target, *more in found)
        assert [one[:3] for one in ordered] == [([*one.source], [*one.target], one.type) for one in expected]
        assert [one[3] for one in ordered] == pytest.approx([one.weight for one in expected], abs=1e-4)


def test_both_know_which_words_run_from_right_to_left(page):
    cases = [["He", "bought"], ["הוא", "קנה"], ["اشترى", "BMW"], ["2024", "!"], ["彼は"], []]
    assert call(page, "leftwards", [[case] for case in cases]) == [leftwards(case) for case in cases]
