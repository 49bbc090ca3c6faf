"""The search finds the best settings, with the same result in one run or in several."""

from itertools import product
from typing import get_args

import pytest

from otalign.encoders.whitening import Centre
from otalign.ot import Balanced, Entropic, Partial, Unbalanced
from otalign.settings import Cost, Settings
from otalign.tuning import EncoderChoice, Journal, SearchGrid, tune
from otalign.tuning.sweep import DevCorpus, sweep_thresholds
from tests.tuning.random_embeddings import make_embeddings, make_golds

GOLDS = make_golds()
EMBEDDINGS = {
    EncoderChoice(2): make_embeddings(GOLDS, 1),
    EncoderChoice(3, "separate"): make_embeddings(GOLDS, 2),
}
QUICK = Entropic(max_iterations=20)  # whether plans have converged does not matter here
BASE = Settings(encoder="none", layer=0, problem=Unbalanced(0.5), solver=QUICK)
SMALL = SearchGrid(parameters=(0.1, 0.4, 0.9), distortions=(0.0, 0.5))
LONG = SearchGrid(parameters=tuple(k / 20 for k in range(1, 21)), distortions=(0.0, 0.5))


class Stopped(Exception):
    pass


@pytest.fixture
def solves(monkeypatch):
    """The problems that were solved; a stop after so many if `stop_after` is set on it."""

    class Solves(list):
        stop_after = None

    made, curves = Solves(), DevCorpus.compute_curves

    def counted(corpus, inputs, settings, *rest):
        if len(made) == made.stop_after:
            raise Stopped
        made.append(settings.problem)
        return curves(corpus, inputs, settings, *rest)

    monkeypatch.setattr(DevCorpus, "compute_curves", counted)
    return made


@pytest.mark.parametrize(("problem", "level"), [(Unbalanced(0.5), "sure"), (Partial(0.5), "possible")])
def test_every_setting_of_a_small_grid_is_searched(problem, level):
    grid = SearchGrid((0.1, 0.8), (0.0, 0.5), ("cosine", "euclidean"), ("uniform", "norm"))
    found = tune(GOLDS, EMBEDDINGS, BASE.replace(problem=problem), grid, [level])[level]
    best = 0.0
    for choice, parameter, distortion, cost, fertility in product(
        EMBEDDINGS, grid.parameters, grid.distortions, grid.costs, grid.fertilities
    ):
        chosen = BASE.replace(
            problem=type(problem)(parameter), distortion=distortion, cost=cost, fertility=fertility
        )
        embeddings = Centre.fit([EMBEDDINGS[choice]], BASE.whitening).apply(EMBEDDINGS[choice])
        best = max(best, sweep_thresholds(GOLDS, embeddings, chosen, [level])[level].f1.max())
    assert found.f1 == pytest.approx(best, abs=1e-10)
    assert len(found.rows) == 2**5
    again = EMBEDDINGS[EncoderChoice(found.settings.layer, found.settings.pairing)]
    centred = Centre.fit([again], BASE.whitening).apply(again)
    curve = sweep_thresholds(GOLDS, centred, found.settings, [level], [found.settings.threshold])
    assert curve[level].f1[0] == pytest.approx(found.f1)


def test_a_long_grid_is_searched_in_two_steps(solves):
    found = tune(GOLDS, EMBEDDINGS, BASE, LONG)["sure"]
    assert len(solves) == 2 * 2 * 6 + 14  # choices, distortions, few parameters; then the others
    assert found.f1 == max(row.f1 for row in found.rows)
    assert len(set(solves)) == 20


@pytest.mark.parametrize("problem", [Balanced(), None])
def test_a_problem_without_a_parameter_has_its_threshold_and_distortion_tuned(problem, solves):
    grid = SearchGrid(distortions=(0.0, 0.5), fertilities=("uniform",))
    found = tune(GOLDS, EMBEDDINGS, BASE.replace(problem=problem), grid)["sure"]
    assert found.settings.problem == problem
    assert len(solves) == 4


def test_levels_tuned_together_are_as_tuned_apart(solves):
    together = tune(GOLDS, EMBEDDINGS, BASE, SMALL, ["sure", "possible"])
    assert len(solves) == 2 * 3 * 2
    for level in ("sure", "possible"):
        assert tune(GOLDS, EMBEDDINGS, BASE, SMALL, [level])[level] == together[level]


def test_of_equals_the_first_wins():
    golds = make_golds(shapes=[(1, 1), (0, 2)])
    embeddings = {choice: make_embeddings(golds) for choice in EMBEDDINGS}
    found = tune(golds, embeddings, BASE, SearchGrid(costs=("euclidean", "cosine")), ["possible"])["possible"]
    assert (found.settings.layer, found.settings.pairing, found.settings.cost) == (2, "joint", "euclidean")
    assert found.settings.problem == Unbalanced(0.02)
    assert (found.settings.distortion, found.settings.threshold) == (0.0, 0.0)


@pytest.mark.parametrize("after", [0, 1, 7, 25])
def test_interrupted_and_resumed_is_as_uninterrupted(after, solves, tmp_path):
    whole = tune(GOLDS, EMBEDDINGS, BASE, LONG, ["sure", "possible"])
    count = len(solves)
    solves.clear()
    solves.stop_after = after
    file = tmp_path / "rows.jsonl"
    with pytest.raises(Stopped):
        tune(GOLDS, EMBEDDINGS, BASE, LONG, ["sure", "possible"], journal=Journal(file))
    with file.open("a") as half:
        half.write('{"cut off')
    solves.stop_after = None
    assert tune(GOLDS, EMBEDDINGS, BASE, LONG, ["sure", "possible"], journal=Journal(file)) == whole
    assert len(solves) == count  # none was solved twice


def test_a_journal_of_other_work_is_not_believed(solves, tmp_path):
    file = tmp_path / "rows.jsonl"
    tune(GOLDS, EMBEDDINGS, BASE, SMALL, journal=Journal(file))
    solves.clear()
    tune(GOLDS, EMBEDDINGS, BASE, SMALL, journal=Journal(file))
    assert not solves
    for change in (
        {"journal": Journal(file, "other embeddings")},
        {
            "golds": [*GOLDS[1:], GOLDS[0]],
            "embeddings": {EncoderChoice(2): make_embeddings([*GOLDS[1:], GOLDS[0]])},
        },
        {"levels": ["possible"]},
        {"base": BASE.replace(centring=False)},
    ):
        solves.clear()
        given = {"golds": GOLDS, "embeddings": EMBEDDINGS, "base": BASE, "grid": SMALL}
        tune(**(given | {"journal": Journal(file)} | change))
        assert solves


def test_progress_is_reported_from_start_to_end():
    reports = []
    tune(GOLDS, EMBEDDINGS, BASE, LONG, progress=lambda *report: reports.append(report))
    assert reports[0] == ("coarse search", 0, 24)
    assert ("coarse search", 24, 24) in reports
    assert reports[-1] == ("fine search", 14, 14)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"golds": []}, "golds must hold at least one pair"),
        ({"golds": make_golds(shapes=[(0, 3)])}, "1 pairs without any at level sure"),
        ({"embeddings": {}}, "embeddings must hold at least one choice"),
        ({"levels": ()}, "levels must be among sure, possible, got none"),
        ({"levels": ("p",)}, "level must be 'sure'"),
    ],
)
def test_what_cannot_be_tuned_is_an_error(change, message):
    with pytest.raises(ValueError, match=message):
        tune(**({"golds": GOLDS, "embeddings": EMBEDDINGS, "base": BASE} | change))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"parameters": (0.0,)}, "parameters must be positive and finite, got 0.0"),
        ({"distortions": (0.1, 0.1)}, "distortions must not contain a value twice"),
        ({"thresholds": ()}, "thresholds must be one or more in ascending order"),
        ({"thresholds": (0.5, 0.4)}, "thresholds must be one or more in ascending order"),
        ({"thresholds": (1.5,)}, "thresholds must be from 0 to 1, got 1.5"),
        ({"costs": ("xyz",)}, f"costs must be among {', '.join(get_args(Cost))}, got 'xyz'"),
    ],
)
def test_a_grid_checks_itself(given, message):
    with pytest.raises(ValueError, match=message):
        SearchGrid(**given)
