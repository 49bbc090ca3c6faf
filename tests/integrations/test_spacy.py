"""Docs are aligned by their tokens, including whitespace tokens; with spaCy itself if it is installed."""

from dataclasses import dataclass
from typing import Any

import pytest

from otalign.integrations.spacy import align_docs, align_many_docs
from tests.diff.toy_aligner import make_toy_aligner

ALIGNER = make_toy_aligner()


@dataclass
class Token:
    text: str
    idx: int

    @property
    def is_space(self) -> bool:
        return self.text.isspace()


class StandIn(list[Token]):
    """The attributes of a `Doc` that the integration reads."""

    def __init__(self, *parts: str):
        super().__init__()
        self.text = ""
        for part in parts:  # a space at its end is `whitespace_`, not a token
            self.append(Token(part.rstrip(" ") or part, len(self.text)))
            self.text += part


SOURCE = ("He ", "built ", " ", "a ", "boat", "\n")
TARGET = ("He ", "constructed ", "a ", "red ", "boat")


def check(source: Any, target: Any) -> None:
    alignment = align_docs(source, target, ALIGNER)
    assert alignment.source == tuple(token.text for token in source)
    assert alignment.pairs == {(0, 0), (1, 1), (3, 2), (4, 4)}
    assert alignment.source_nulls == (2, 5)
    assert alignment.source_null_confidence
    assert [alignment.source_null_confidence[k] for k in (2, 5)] == [1, 1]
    for doc, spans in ((source, alignment.source_spans), (target, alignment.target_spans)):
        assert [doc.text[start:end] for start, end in spans] == [token.text for token in doc]
    assert list(align_many_docs([(source, target)] * 2, ALIGNER))[1].pairs == alignment.pairs


def test_tokens_are_aligned_and_blank_ones_are_null():
    check(StandIn(*SOURCE), StandIn(*TARGET))


def test_docs_without_tokens_are_aligned():
    assert align_docs(StandIn(), StandIn(), ALIGNER).shape == (0, 0)  # pyright: ignore[reportArgumentType]
    assert align_docs(StandIn("\n"), StandIn(*TARGET), ALIGNER).shape == (1, 5)  # pyright: ignore[reportArgumentType]


def test_docs_of_spacy_itself_are_aligned():
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    check(nlp("".join(SOURCE)), nlp("".join(TARGET)))


def test_parts_of_docs_are_aligned_by_their_own_tokens():
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
    nlp = spacy.blank("en")
    source, target = nlp("It rained . He built a boat"), nlp("He built a boat")
    alignment = align_docs(source[3:], target, ALIGNER)
    assert alignment == align_docs(nlp("He built a boat"), target, ALIGNER)
    assert alignment.source_spans == alignment.target_spans


@pytest.mark.parametrize("given", ["He built a boat", None, Token("boat", 0)])
def test_what_is_no_doc_is_named(given):
    with pytest.raises(TypeError, match="a doc must be a Doc or a Span of spaCy, got "):
        align_docs(StandIn(*SOURCE), given, ALIGNER)  # pyright: ignore[reportArgumentType]


def test_the_pipeline_component_aligns_docs_with_their_counterparts():
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
    nlp = spacy.blank("en")
    nlp.add_pipe("otalign")
    source, other = nlp.make_doc("He built a boat"), nlp.make_doc("She sang")
    source._.counterpart = nlp.make_doc("He built a boat")
    aligned, alone = nlp.pipe([source, other])
    assert aligned._.alignment.pharaoh() == "0-0 1-1 2-2 3-3"
    assert alone._.alignment is None
