"""What clients may say and what they are told, as types that check themselves and make the OpenAPI schema.

A request is one pair or many, with settings for all of them. Which settings there are depends on the problem,
and which problems on the aligner, so the type of a request is made for an aligner and its limits.
"""

import json
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, Union

from annotated_types import Len
from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError

from otalign.aligner import signature
from otalign.server.choices import Choices, told
from otalign.server.limits import Limits
from otalign.server.work import Answer, Ask
from otalign.settings import Links, Settings

MOST_FIELDS = 20  # of an object; more than any has, but few enough to name each that is wrong

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Positive = Annotated[float, Field(ge=1e-3, le=1e3, allow_inf_nan=False)]


class Said(BaseModel):
    """A part of a request. What it does not know it refuses, so that a slip of the pen is noticed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _check_size(cls, value: Any) -> Any:
        """Refuse a large object as a whole: naming each of 100,000 unknown fields takes seconds."""
        if isinstance(value, dict) and len(value) > MOST_FIELDS:
            told = {"most": MOST_FIELDS, "got": len(value)}
            raise PydanticCustomError("fields", "An object must have at most {most} fields, got {got}", told)
        return value


class _Transport(Said):
    threshold: Share | None = Field(None, description="Links must be stronger; else what suits the problem.")
    distortion: Share | None = Field(
        None, description="How much words far apart in order are made less alike."
    )


class _Entropic(_Transport):
    epsilon: Positive | None = Field(
        None, description="Weight of the entropy: the more, the softer the plan."
    )


class BalancedSettings(_Entropic):
    """All words give and take as much as all others."""

    problem: Literal["bot"]


class PartialSettings(_Entropic):
    """A fraction of the shorter sentence is linked."""

    problem: Literal["pot"]
    fraction: Annotated[float, Field(ge=1e-3, le=1, allow_inf_nan=False)] | None = None


class UnbalancedSettings(_Entropic):
    """Words may be left out at a price."""

    problem: Literal["uot"]
    tau: Positive | None = Field(None, description="The price of leaving words out.")


class NoTransport(_Transport):
    """A threshold on how alike two words are, and no transport."""

    problem: Literal["none"]


class LearnedSettings(Said):
    """What the aligner was trained for."""

    problem: Literal["learned"]
    links: Links | None = Field(None, description="Those that are sure, or all that are possible.")
    threshold: Share | None = Field(None, description="Links must be more likely; else what suits the links.")


KINDS: dict[str, type[Said]] = {
    "learned": LearnedSettings,
    "bot": BalancedSettings,
    "pot": PartialSettings,
    "uot": UnbalancedSettings,
    "none": NoTransport,
}


def request_type(choices: Choices, limits: Limits) -> Any:
    """The type of the bodies that `settings_of` and `asks_of` take."""
    text = Annotated[str, Len(0, limits.characters)]
    either = _one_of(
        {"text": text, "words": Annotated[list[text], Field(max_length=limits.words, fail_fast=True)]},
        lambda value: "words" if isinstance(value, list | tuple) else "text",
    )
    sentence: Any = Annotated[either, Field(description="A text, or a list of its words.")]
    offered: dict[str, Any] = {name: KINDS[name] for name in choices.settings}
    known = f"problem must be given and one of {', '.join(offered)}"
    settings = _one_of(offered, lambda value: _field(value, "problem"), known) | None
    shared: dict[str, Any] = {"settings": (settings, Field(None, description="Else those of the aligner."))}
    pair: Any = create_model("Pair", __base__=Said, source=(sentence, ...), target=(sentence, ...))
    matrix = (bool, Field(False, description="Whether to tell the weights of all word pairs too."))
    one = create_model("OnePair", __base__=pair, matrix=matrix, **shared)
    pairs: Any = (Annotated[list[pair], Field(max_length=limits.pairs, fail_fast=True)], ...)
    many = create_model("ManyPairs", __base__=Said, pairs=pairs, **shared)
    return _one_of(
        {"one": one, "many": many}, lambda body: "one" if _field(body, "pairs") is None else "many"
    )


def _one_of(kinds: dict[str, Any], kind: Callable[[Any], Any], otherwise: str | None = None) -> Any:
    """A choice of types, by what `kind` says of a value; only that one tells what is wrong with it."""
    union: Any = Union[tuple(Annotated[type_, Tag(f"={name}")] for name, type_ in kinds.items())]  # noqa: UP007
    custom: Any = {"custom_error_type": "kind", "custom_error_message": otherwise} if otherwise else {}
    return Annotated[union, Discriminator(lambda value: f"={kind(value)}", **custom)]


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def settings_of(body: Any, choices: Choices) -> Settings:
    """What a request asks to align with."""
    return choices.chosen(**(body.settings.model_dump() if body.settings else {}))


def asks_of(body: Any, settings: Settings) -> list[Ask]:
    """The pairs of a request."""
    pairs, matrix = getattr(body, "pairs", [body]), getattr(body, "matrix", False)
    return [Ask(_text(pair.source), _text(pair.target), settings, matrix) for pair in pairs]


def _text(said: str | list[str]) -> str | tuple[str, ...]:
    return said if isinstance(said, str) else tuple(said)


class AlignmentTold(BaseModel):
    """The words, the links between them as [source, target, weight], and the words without a link."""

    source: list[str]
    target: list[str]
    links: list[tuple[int, int, float]]
    source_nulls: list[int]
    target_nulls: list[int]
    source_spans: list[tuple[int, int]] = Field(description="The words' places in the text.")
    target_spans: list[tuple[int, int]]
    source_null_confidence: list[Share] = Field(description="How sure it is that a word has no counterpart.")
    target_null_confidence: list[Share]
    converged: bool | None = Field(
        None, description="Whether the solver reached its tolerance, if a transport problem was solved."
    )


class _Chosen(BaseModel):
    settings: dict[str, Any] = Field(description="Those that held, under the names they are asked for by.")
    signature: str = Field(description="All that must be told of a result for it to be got again.")


class OneAnswer(_Chosen, AlignmentTold):
    """The alignment of one pair."""

    matrix: list[list[Share]] | None = Field(
        None, description="Of each source word, its weights with all target words, if asked for."
    )


class ManyAnswers(_Chosen):
    """The alignments of many pairs, in their order."""

    alignments: list[AlignmentTold]


class About(BaseModel):
    """The aligner, and what may be asked of it."""

    signature: str
    problem: str = Field(description="The one that holds if none is asked for.")
    settings: dict[str, dict[str, Any]] = Field(description="Of each problem, what holds if nothing is said.")
    limits: dict[str, float]


class Health(BaseModel):
    status: Literal["ok"] = "ok"
    version: str


def answer_to(body: Any, settings: Settings, answers: Sequence[Answer]) -> bytes:
    """JSON of the type `OneAnswer` or `ManyAnswers`, as the request was for one or many."""
    said: dict[str, Any] = {"settings": told(settings), "signature": signature(settings.fields())}
    if hasattr(body, "pairs"):
        said["alignments"] = [_alignment_fields(answer) for answer in answers]
    else:
        (answer,) = answers
        said |= _alignment_fields(answer)
        if answer.matrix is not None:
            said["matrix"] = answer.matrix
    return json.dumps(said, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _alignment_fields(answer: Answer) -> dict[str, Any]:
    converged = {} if answer.converged is None else {"converged": answer.converged}
    return answer.alignment.to_dict() | converged
