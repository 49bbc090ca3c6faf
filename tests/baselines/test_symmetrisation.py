"""Symmetrisations give links between the intersection and the union of both directions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign.baselines import symmetrise
from tests.baselines import reference

places = st.tuples(st.integers(0, 6), st.integers(0, 6))
directions = st.tuples(st.frozensets(places, max_size=14), st.frozensets(places, max_size=14))
GROWN = ["grow-diag", "grow-diag-final", "grow-diag-final-and"]


def words(links):
    return {("source", i) for i, _ in links} | {("target", j) for _, j in links}


@given(directions)
def test_each_step_only_adds_links_of_the_union(both):
    made = {how: symmetrise(*both, how) for how in ["intersection", *GROWN, "union"]}
    assert made["intersection"] == both[0] & both[1]
    assert made["union"] == both[0] | both[1]
    assert made["intersection"] <= made["grow-diag"]
    for final in ("grow-diag-final", "grow-diag-final-and"):
        assert made["grow-diag"] <= made[final] <= made["union"]


@given(directions)
def test_final_leaves_no_word_that_the_union_links(both):
    union = symmetrise(*both, "union")
    assert words(symmetrise(*both, "grow-diag-final")) == words(union)
    reached = words(symmetrise(*both, "grow-diag-final-and"))
    assert all(("source", i) in reached or ("target", j) in reached for i, j in union)


@given(directions)
def test_intersection_and_union_transpose_with_their_input_and_know_no_direction(both):
    swapped = [frozenset((j, i) for i, j in links) for links in both]
    for how in ("intersection", "union"):
        made = symmetrise(*both, how)
        assert symmetrise(*reversed(both), how) == made
        assert symmetrise(*swapped, how) == {(j, i) for i, j in made}


@given(st.frozensets(places), st.sampled_from(["intersection", "union", *GROWN]))
def test_directions_that_agree_are_the_answer(links, how):
    assert symmetrise(links, links, how) == links


@given(directions, st.sampled_from(GROWN))
def test_growing_is_that_of_the_plain_scan_over_all_cells(both, how):
    assert symmetrise(*both, how) == reference.grow_diag_final(*both, how)


def test_growing_reaches_corners_and_final_reaches_far():
    forward, reverse = {(0, 0), (1, 1), (4, 4)}, {(0, 0), (4, 4), (4, 5), (9, 4), (9, 9)}
    assert symmetrise(forward, reverse, "grow-diag") == {(0, 0), (1, 1), (4, 4), (4, 5)}
    assert symmetrise(forward, reverse, "grow-diag-final") - symmetrise(forward, reverse, "grow-diag") == {
        (9, 4),
        (9, 9),
    }
    assert (9, 4) not in symmetrise(forward, reverse)
    assert (9, 9) in symmetrise(forward, reverse)


def test_an_unknown_way_is_named():
    with pytest.raises(ValueError, match=r"how must be one of intersection, .*, got 'grow'"):
        symmetrise(set(), set(), "grow")  # type: ignore[arg-type]
