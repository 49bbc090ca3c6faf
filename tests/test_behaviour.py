"""The behaviour suite: its cases are sound, and the shipped aligner passes a fast part of it."""

import sys
from pathlib import Path

import pytest

from otalign import Aligner

BENCHMARKS = str(Path(__file__).parent.parent / "benchmarks")
sys.path.append(BENCHMARKS)
from capabilities import FEWEST, HALVES, load_capabilities  # noqa: E402
from capabilities.cases import Case, Group, match_same_words, read_case  # noqa: E402

sys.path.remove(BENCHMARKS)  # it also has a module ot, which is not POT

CAPABILITIES = load_capabilities()
FAST = 8  # cases of each capability that the shipped aligner aligns
# Least share that must pass, for what the shipped aligner can do. Raise it with a better model.
LEAST = {
    "singular and plural": 0.75,
    "spelling variants": 0.75,
    "active and passive": 0.5,
    "adjective inserted": 0.75,
    "case": 0.75,
    "identity, 5 to 20 words": 1.0,
    "source and target exchanged": 0.5,
}


def test_there_are_at_least_forty_capabilities_with_names_of_their_own():
    names = [one.name for one in CAPABILITIES]
    assert len(set(names)) == len(names) >= 40


@pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda one: one.name)
def test_halves_have_enough_cases_and_share_none(capability):
    train, report = (capability.cases(half) for half in HALVES)
    assert min(len(train), len(report)) >= FEWEST
    assert not set(train) & set(report)
    assert capability.expectation.endswith(".")
    assert capability.source


@pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda one: one.name)
def test_expectations_name_words_of_their_sentences_and_do_not_contradict(capability):
    for half in HALVES:
        for case in capability.cases(half):
            linked_sources = set(range(len(case.source))) - case.source_nulls
            linked_targets = set(range(len(case.target))) - case.target_nulls
            for group in case.groups:
                assert group.source <= linked_sources
                assert group.target <= linked_targets
            wanted = frozenset((i, j) for group in case.groups for i in group.source for j in group.target)
            assert not case.find_faults(wanted)


def test_marks_say_what_must_be_linked_and_what_is_null():
    case = read_case("He bought/1 it", "He purchased/1 it yesterday/0")
    group = Group(frozenset((1,)), frozenset((1,)))
    assert case == Case(
        ("He", "bought", "it"), ("He", "purchased", "it", "yesterday"), (group,), frozenset(), frozenset((3,))
    )
    assert case.find_faults(frozenset({(0, 0), (1, 1), (2, 2)})) == []
    assert case.find_faults(frozenset({(1, 2)})) == [
        "no link: bought",
        "no link: purchased",
        "wrong link: bought–it",
    ]
    assert case.find_faults(frozenset({(1, 1), (2, 3)})) == ["not null: it–yesterday"]


def test_a_group_needs_words_on_both_sides():
    with pytest.raises(ValueError, match="group 1 must have words on both sides"):
        read_case("a/1 b", "c d")


def test_equal_words_are_matched_where_they_stand_once():
    case = match_same_words("plums and pears and plums", "pears and plums")
    assert case.groups == (Group(frozenset((2,)), frozenset((0,))),)


@pytest.fixture(scope="module")
def shipped():
    return Aligner.load()


@pytest.mark.parametrize("name", LEAST)
def test_the_shipped_aligner_can_do_what_it_could_do_before(name, shipped):
    (capability,) = (one for one in CAPABILITIES if one.name == name)
    cases = capability.cases("report")[:FAST]
    passed = sum(not capability.check(shipped, case) for case in cases)
    assert passed >= LEAST[name] * len(cases)
