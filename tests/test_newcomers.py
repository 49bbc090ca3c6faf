"""Stumbling blocks for newcomers in Python: messages, pickling, and the repr of values."""

import inspect
import multiprocessing
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from otalign import Aligner, Alignment, Gold, evaluate
from otalign.baselines import FastAligner
from otalign.diff import Difference, difference
from otalign.projection import project_spans
from otalign.settings.transport import LOAD_OPTIONS
from otalign.training.recipe import Recipe

EXAMPLES = Path(__file__).parent.parent / "examples"
PAIR = ("He bought a used car.", "He purchased a car.")


def align(aligner: Aligner) -> str:
    return aligner.align(*PAIR).pharaoh()


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    return Aligner.load(threads=1)


def test_an_aligner_is_shown_on_one_line(aligner):
    assert repr(aligner) == (
        "Aligner(encoder='small', layer=5, problem='learned', threshold=0.5869, links='sure')"
    ).replace("'small'", repr(aligner.encoder.name))


def test_an_aligner_can_be_pickled_and_sent_to_a_process(aligner):
    again = pickle.loads(pickle.dumps(aligner))
    assert (align(again), again.signature) == (align(aligner), aligner.signature)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(align, (aligner,)) == align(aligner)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"tau": 3}, ValueError, "tau must be left out: the model small has learned its transport"),
        ({"problme": "uot"}, TypeError, "problme is not an option of Aligner.load; did you mean problem?"),
        ({"modle": "small"}, TypeError, "modle is not an option of Aligner.load; did you mean model?"),
    ],
)
def test_options_that_do_not_apply_are_named_with_a_remedy(options, error, message):
    with pytest.raises(error) as caught:
        Aligner.load(**options)
    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["minilm.py", "picture.py", "wordnet.py"])
def test_an_example_without_its_arguments_says_how_it_is_called(name):
    done = subprocess.run([sys.executable, EXAMPLES / name], capture_output=True, text=True)
    assert f"python examples/{name}" in done.stderr
    assert "Traceback" not in done.stderr


def test_every_option_of_load_may_be_suggested():
    own = inspect.signature(Aligner.load).parameters.keys() - {"options"}
    assert own == set(LOAD_OPTIONS)


def test_what_is_no_sentence_is_named(aligner):
    with pytest.raises(TypeError, match="a sentence must be a text, its words or a Sentence, got None"):
        aligner.align(None, "x")


@pytest.mark.parametrize("pairs", [[None], "ab", [("a", "b", "c")], ["ab"], [{"source": "a", "target": "b"}]])
def test_what_is_no_pair_is_named(aligner, pairs):
    with pytest.raises(TypeError, match="a pair must be a source and a target, got "):
        list(aligner.align_many(pairs))


@pytest.mark.parametrize(("kind", "given"), [(Alignment, "links"), (Gold, "sure"), (Gold, "target")])
def test_a_field_that_a_dictionary_lacks_is_named(kind, given):
    data = {"source": ["a"], "target": ["b"], "links": [], "sure": [], "possible": []}
    del data[given]
    with pytest.raises(ValueError, match=f"no field '{given}'"):
        kind.from_dict(data)


def test_a_difference_is_a_public_class(aligner):
    found = difference("It rained.", "It snowed.", aligner)
    assert isinstance(found, Difference)
    assert Difference.from_dict(found.to_dict()).counts == found.counts


def test_fast_align_learns_from_texts_as_from_words():
    texts = [("a house", "ein Haus"), ("a book", "ein Buch")]
    words = [(source.split(), target.split()) for source, target in texts]
    aligners = [FastAligner(more=more) for more in (texts, words)]
    assert aligners[0].more == aligners[1].more
    first, second = (one.align("the house", "das Haus").pharaoh() for one in aligners)
    assert first == second


@pytest.mark.parametrize("more", [["a house"], "ab", [("a", "b", "c")], [("a house", None)]])
def test_what_is_no_pair_to_learn_from_is_named(more):
    with pytest.raises(TypeError, match=r"a (pair|sentence) must be .*, got "):
        FastAligner(more=more)


def test_what_cannot_be_scored_saved_or_compared_is_named(aligner, tmp_path):
    alignment = aligner.align(*PAIR)
    (tmp_path / "file").touch()
    for work, error, message in (
        (
            lambda: evaluate(alignment, [alignment]),
            TypeError,
            "predicted must be a list with an alignment for",
        ),
        (lambda: evaluate(["0-0"], [alignment]), TypeError, "pair 0, .* got str and Alignment"),
        (lambda: aligner.save(tmp_path / "file"), ValueError, "it is a file; give a folder"),
        (
            lambda: list(aligner.align_many([PAIR], workers=-1)),
            ValueError,
            "workers must be 0 or more, got -1",
        ),
        (
            lambda: difference(None, "It rains.", aligner),
            TypeError,
            "a text must be a str or a Document, got None",
        ),
    ):
        with pytest.raises(error, match=message):
            work()


def test_a_number_of_epochs_is_kept():
    assert Recipe(epochs=2).count_epochs(steps=1) == 2
    assert Recipe().replace(epochs=2).count_epochs(steps=1) == 2
    assert Recipe().count_epochs(steps=1) == 30
    assert Recipe().count_epochs(steps=1000) == 6


def test_spans_beyond_the_text_are_refused(aligner):
    alignment = aligner.align(*PAIR)
    with pytest.raises(ValueError, match="within the source's 21 characters"):
        project_spans([(0, 22, "X")], alignment, unit="characters")
    assert project_spans([(0, 22, "X")], alignment, unit="characters", text_length=22).spans
