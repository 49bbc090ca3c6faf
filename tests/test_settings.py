"""Settings are validated, printable, and unchanged by JSON."""

import json
import math
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign.ot import Balanced, Entropic, Exact, Partial, Unbalanced
from otalign.problems import find_spec
from otalign.settings import Cost, Fertility, Learned, LearnedSettings, Settings, read_settings

shares = st.floats(0, 1)
below_one = st.floats(0, 1, exclude_max=True)
positive = st.floats(1e-6, 1e6)
problems = st.one_of(
    st.none(),
    st.just(Balanced()),
    st.builds(Partial, st.floats(0, 1, exclude_min=True)),
    st.builds(Unbalanced, positive, positive, divergence=st.sampled_from(["kl", "l2"])),
    st.builds(Unbalanced, positive),
)
solvers = st.one_of(
    st.builds(Entropic, positive, st.floats(0, 0.5), st.integers(1, 10_000)),
    st.builds(Exact, st.floats(0, 0.5), st.integers(1, 10_000)),
)
common = {
    "encoder": st.text(),
    "layer": st.integers(0, 24),
    "pairing": st.sampled_from(["joint", "separate"]),
    "centring": st.booleans(),
    "cost": st.sampled_from(get_args(Cost)),
    "smoothing": shares,
    "distortion": shares,
    "mutuality": shares,
    "completion": shares,
    "fertility": st.sampled_from(get_args(Fertility)),
    "problem": problems,
    "solver": solvers,
    "threshold": st.one_of(st.none(), shares),
}
drawn_settings = st.one_of(
    st.builds(Settings, **common, order=shares), st.builds(Settings, **common, structure=shares)
)
learned_settings = st.builds(
    LearnedSettings,
    encoder=st.text(),
    layer=st.integers(0, 24),
    problem=st.builds(Learned, shares, shares, below_one, below_one),
    links=st.sampled_from(["sure", "possible"]),
    threshold=st.one_of(st.none(), shares),
    hysteresis=st.one_of(st.none(), below_one),
    trained=st.one_of(st.none(), st.text()),
)


@given(st.one_of(drawn_settings, learned_settings))
def test_settings_are_the_same_after_json(settings):
    text = json.dumps(settings.to_dict(), allow_nan=False)
    assert read_settings(json.loads(text)) == settings


@given(drawn_settings)
def test_a_signature_has_a_plain_value_for_everything_that_decides(settings):
    shown = settings.signature_fields()
    assert all(isinstance(value, str | int | float | bool) for value in shown.values())
    assert {
        "encoder",
        "layer",
        "pairing",
        "cost",
        "fertility",
        "problem",
        "solver",
        "threshold",
    } <= shown.keys()
    assert shown["problem"] in ("bot", "pot", "uot", "none")


@given(drawn_settings, drawn_settings)
def test_settings_that_differ_have_other_signatures(one, other):
    assert (one == other) == (one.signature_fields() == other.signature_fields())


def test_a_signature_names_the_parameters_of_the_problem():
    of = {"encoder": "tiny", "layer": 4}
    assert Settings(**of, problem=Partial(0.5)).signature_fields()["fraction"] == 0.5
    assert Settings(**of, problem=Unbalanced(0.5)).signature_fields()["tau"] == 0.5
    two = Settings(**of, problem=Unbalanced(0.5, 2.0)).signature_fields()
    assert (two["tau_source"], two["tau_target"]) == (0.5, 2.0)
    assert Settings(**of, problem=None).signature_fields()["problem"] == "none"
    assert Settings(**of, solver=Exact()).signature_fields()["solver"] == "exact"


@given(learned_settings)
def test_a_signature_of_what_was_learned_says_which_links_and_on_what(settings):
    shown = settings.signature_fields()
    assert shown["problem"] == "learned"
    assert (shown["links"], shown["threshold"]) == (settings.links, settings.threshold)
    assert shown["trained"] == settings.trained
    assert not shown.keys() & {"cost", "fertility", "solver"}  # which then have no effect


def test_what_was_trained_for_a_transport_says_so_in_its_signature():
    of = {"encoder": "tiny", "layer": 4}
    assert "trained" not in Settings(**of).signature_fields()
    assert Settings(**of, trained="mtref s, seed 1").signature_fields()["trained"] == "mtref s, seed 1"
    assert "links" not in Settings(**of).signature_fields()


@given(learned_settings)
def test_other_links_bring_their_own_threshold(settings):
    for links in ("sure", "possible"):
        changed = settings.replace(links=links)
        same = links == settings.links
        assert changed.threshold == (settings.threshold if same else getattr(settings.problem, links))
        assert settings.replace(links=links, threshold=0.5).threshold == 0.5


def test_what_is_learned_is_not_a_problem_to_be_solved():
    settings = LearnedSettings(encoder="tiny", layer=1, problem=Learned(0.4, 0.6))
    assert settings.threshold == 0.4
    assert settings.replace(links="possible").threshold == 0.6
    with pytest.raises(TypeError, match="problem must be Balanced, Partial, Unbalanced or None, got Learned"):
        Settings(encoder="tiny", layer=1, problem=Learned())  # type: ignore


@given(drawn_settings, problems)
def test_a_problem_of_another_kind_brings_its_own_threshold(settings, problem):
    changed = settings.replace(problem=problem)
    same = type(problem) is type(settings.problem)
    assert changed.threshold == (settings.threshold if same else find_spec(problem).threshold)
    assert settings.replace(problem=problem, threshold=0.5).threshold == 0.5


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (
            {"pairing": "both"},
            ValueError,
            "pairing must be one of joint, separate, canonical, got 'both'",
        ),
        ({"cost": "xyz"}, ValueError, "cost must be one of .*cosine.*, got 'xyz'"),
        ({"fertility": "xyz"}, ValueError, "fertility must be one of .*uniform.*, got 'xyz'"),
        ({"fertility": None}, ValueError, "fertility must be one of"),
        ({"problem": "uot"}, TypeError, "problem must be Balanced, Partial, Unbalanced or None, got 'uot'"),
        ({"problem": Balanced}, TypeError, "problem must be Balanced, Partial, Unbalanced or None"),
        ({"solver": "exact"}, TypeError, "solver must be Entropic or Exact, got 'exact'"),
        ({"solver": None}, TypeError, "solver must be Entropic or Exact, got None"),
        ({"threshold": 1.5}, ValueError, "threshold must be from 0 to 1, got 1.5"),
        ({"order": -0.1}, ValueError, "order must be from 0 to 1, got -0.1"),
        ({"completion": 2}, ValueError, "completion must be from 0 to 1, got 2"),
        (
            {"order": 0.1, "structure": 0.2},
            ValueError,
            "order and structure must not both be above 0, got 0.1 and 0.2; choose one",
        ),
        ({"threshold": math.nan}, ValueError, "threshold must be from 0 to 1, got nan"),
        ({"distortion": -0.1}, ValueError, "distortion must be from 0 to 1, got -0.1"),
        ({"distortion": None}, TypeError, "distortion must be a number, got None"),
        ({"threshold": "0.4"}, TypeError, "threshold must be a number, got '0.4'"),
        ({"centring": "no"}, TypeError, "centring must be True or False, got 'no'"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named(wrong, error, message):
    with pytest.raises(error, match=message):
        Settings(encoder="tiny", layer=1, **wrong)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            {"problem": {"name": "ot"}},
            "problem must hold a name, one of bot, pot, uot, got {'name': 'ot'}",
        ),
        ({"problem": "uot"}, "problem must hold a name, one of bot, pot, uot, got 'uot'"),
        (
            {"solver": {"name": "simplex"}},
            "solver must hold a name, one of entropic, exact, got {'name': 'simplex'}",
        ),
        ({"colour": "red"}, "got 'colour'"),
    ],
    ids=str,
)
def test_what_json_says_wrongly_is_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        Settings.from_dict(Settings(encoder="tiny", layer=1).to_dict() | wrong)


@pytest.mark.parametrize("name", ["hysteresis", "sure_hysteresis"])
def test_a_hysteresis_is_less_than_1(name):
    with pytest.raises(ValueError, match=f"{name} must be less than 1, got 1"):
        LearnedSettings(encoder="", layer=0, hysteresis=1) if name == "hysteresis" else Learned(**{name: 1})


def test_links_of_another_level_bring_their_threshold_and_hysteresis():
    settings = LearnedSettings(encoder="", layer=0, problem=Learned(0.6, 0.4, 0.3, 0.1))
    assert (settings.threshold, settings.hysteresis) == (0.6, 0.3)
    assert settings.signature_fields()["hysteresis"] == 0.3
    other = settings.replace(links="possible")
    assert (other.threshold, other.hysteresis) == (0.4, 0.1)
    assert settings.replace(threshold=0.5).hysteresis == 0.3


def test_what_was_saved_before_there_was_a_hysteresis_has_none():
    data = LearnedSettings(encoder="", layer=0).to_dict()
    del data["hysteresis"]
    data["problem"] = {"name": "learned", "sure": 0.5, "possible": 0.4}
    settings = read_settings(data)
    assert (settings.threshold, settings.hysteresis) == (0.5, 0.0)
    assert "hysteresis" not in settings.signature_fields()
