"""Objectives and options: the objective of a problem, its recipe, and invalid arguments."""

import pytest

from otalign.ot import Balanced, Partial, Unbalanced
from otalign.scoring import ProjectionHead, TransportHead
from otalign.settings import Learned, LearnedSettings, Settings
from otalign.training import FURTHER, PAPER, Recipe, RunOptions, choose_recipe
from otalign.training.objectives import LearnedObjective, TransportObjective, make_objective

PAPERS = [Balanced(), Partial(0.8), Unbalanced(0.5)]


@pytest.mark.parametrize("problem", PAPERS, ids=repr)
def test_a_problem_of_the_paper_is_learned_at_one_level_through_a_projection(problem):
    objective = make_objective(problem)
    assert objective == TransportObjective(problem, "sure")
    assert make_objective(problem, "possible").level == "possible"
    assert objective.head_type is ProjectionHead
    settings = objective.make_settings("tiny", 3, objective.pairing, "examples")
    assert isinstance(settings, Settings)
    assert (settings.problem, settings.pairing, settings.trained) == (problem, "joint", "examples")


@pytest.mark.parametrize(("level", "links"), [(None, "sure"), ("possible", "possible")])
def test_learned_transport_is_learned_at_both_levels_in_a_canonical_order(level, links):
    objective = make_objective(Learned(), level)
    assert objective == LearnedObjective(Learned(), level)
    assert objective.head_type is TransportHead
    settings = objective.make_settings("tiny", 3, objective.pairing, "examples")
    assert isinstance(settings, LearnedSettings)
    assert (settings.links, settings.pairing) == (links, "canonical")


def test_recipes_suit_the_problem_and_the_encoder():
    learned = LearnedSettings(encoder="tiny", layer=3, trained="examples")
    paper = Settings(encoder="tiny", layer=3, trained="examples")
    assert [choose_recipe(problem) for problem in PAPERS] == [PAPER] * 3
    assert choose_recipe(Unbalanced(0.5), learned) == PAPER
    assert choose_recipe(Learned()) == choose_recipe(Learned(), paper) == Recipe()
    assert choose_recipe(Learned(), learned) == FURTHER


def test_what_is_not_a_problem_is_refused():
    with pytest.raises(TypeError, match="problem must be Balanced, Partial, Unbalanced or None, got 'uot'"):
        make_objective("uot")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"accumulate": 0}, "accumulate must be at least 1, got 0"),
        ({"workers": -1}, "workers must be at least 0, got -1"),
    ],
)
def test_run_options_check_themselves(wrong, message):
    with pytest.raises(ValueError, match=message):
        RunOptions(**wrong)
