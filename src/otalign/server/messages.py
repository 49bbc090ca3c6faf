"""Requests and answers as types that validate themselves and define the OpenAPI schema.

A request is one pair or many, with settings for all of them. The settings depend on the problem, and the
problems on the aligner, so the type of requests is made for an aligner and its limits.
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

from otalign.alignment import Level
from otalign.phrases import PhraseType
from otalign.problems import PARAMETERS, PROBLEMS
from otalign.server.choices import Choices, ServedChoice
from otalign.server.limits import Limits
from otalign.server.work import Answer, PairRequest
from otalign.settings import LEARNED

MOST_FIELDS = 20  # more than any object has, but few enough to report each invalid one

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Positive = Annotated[float, Field(ge=1e-3, le=1e3, allow_inf_nan=False)]


class RequestPart(BaseModel):
    """A part of a request. Unknown fields are refused, so that spelling mistakes are noticed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _check_size(cls, value: Any) -> Any:
        """Refuse a large object as a whole, since reporting each of 100,000 unknown fields takes seconds."""
        if isinstance(value, dict) and len(value) > MOST_FIELDS:
            context = {"most": MOST_FIELDS, "got": len(value)}
            raise PydanticCustomError(
                "fields", "An object must have at most {most} fields, got {got}", context
            )
        return value


def _make_optional(type_: Any, description: str) -> Any:
    """Return the definition of a field that may be left out."""
    return type_ | None, Field(None, description=description)


LEARNED_FIELDS: dict[str, Any] = {
    "links": _make_optional(Level, "Links to return: the sure ones, or all possible ones."),
    "threshold": _make_optional(
        Share, "Minimum probability of a link; one beside another link may need less."
    ),
}
TRANSPORT_FIELDS: dict[str, Any] = {
    "threshold": _make_optional(Share, "Minimum score of a link."),
    "distortion": _make_optional(Share, "Penalty for words at different positions."),
}
EPSILON_FIELD: dict[str, Any] = {
    "epsilon": _make_optional(Positive, "Weight of the entropy; more makes plans softer."),
}


def make_settings_type(problem: str) -> type[RequestPart]:
    """Make the type of the settings that a request may hold for a problem."""
    name: dict[str, Any] = {"problem": (Literal[problem], problem)}
    if problem == LEARNED:
        return create_model("LearnedSettings", __base__=RequestPart, **name, **LEARNED_FIELDS)
    spec, fields = PROBLEMS[problem], dict(TRANSPORT_FIELDS)
    if spec.type is not type(None):
        fields |= EPSILON_FIELD
    if spec.parameter:
        parameter = spec.parameter
        number = Annotated[float, Field(ge=parameter.minimum, le=parameter.maximum, allow_inf_nan=False)]
        fields[parameter.name] = _make_optional(number, parameter.description)
    title = f"{problem.capitalize()}Settings"
    return create_model(title, __base__=RequestPart, __doc__=spec.description, **name, **fields)


def make_request_type(choices: Choices, limits: Limits) -> Any:
    """Make the type of request bodies, for an aligner and its limits."""
    text = Annotated[str, Len(0, limits.characters)]
    either = _make_union(
        {"text": text, "words": Annotated[list[text], Field(max_length=limits.words, fail_fast=True)]},
        lambda value: "words" if isinstance(value, list | tuple) else "text",
    )
    sentence: Any = Annotated[either, Field(description="A text, or a list of its words.")]
    offered: dict[str, Any] = {name: make_settings_type(name) for name in choices.offered}
    known = f"problem must be one of {', '.join(offered)}"
    settings = _make_union(offered, lambda value: _find_problem(value, choices.default), known) | None
    shared: dict[str, Any] = {
        "settings": (settings, Field(None, description="Settings; by default those of the aligner.")),
        "phrases": (bool, Field(False, description="Whether to return the phrases.")),
    }
    pair: Any = create_model("Pair", __base__=RequestPart, source=(sentence, ...), target=(sentence, ...))
    matrix = (bool, Field(False, description="Whether to return the scores of all word pairs."))
    one = create_model("OnePair", __base__=pair, matrix=matrix, **shared)
    pairs: Any = (Annotated[list[pair], Field(max_length=limits.pairs, fail_fast=True)], ...)
    many = create_model("ManyPairs", __base__=RequestPart, pairs=pairs, **shared)
    return _make_union(
        {"one": one, "many": many}, lambda body: "one" if _get_field(body, "pairs") is None else "many"
    )


def _make_union(kinds: dict[str, Any], kind: Callable[[Any], Any], otherwise: str | None = None) -> Any:
    """Make a union of types, discriminated by `kind`, so that errors are those of one type only."""
    union: Any = Union[tuple(Annotated[type_, Tag(f"={name}")] for name, type_ in kinds.items())]  # noqa: UP007
    custom: Any = {"custom_error_type": "kind", "custom_error_message": otherwise} if otherwise else {}
    return Annotated[union, Discriminator(lambda value: f"={kind(value)}", **custom)]


def _find_problem(settings: Any, default: str) -> Any:
    """Return the problem of settings: as named, or that of a parameter such as tau, or the aligner's own."""
    parameters = (spec.name for name, spec in PARAMETERS.items() if _get_field(settings, name) is not None)
    return _get_field(settings, "problem") or next(parameters, default)


def _get_field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def read_choice(body: Any, choices: Choices) -> ServedChoice:
    """Return the choice of settings that a request asks for."""
    options = body.settings.model_dump() if body.settings else {}
    return choices.choose(options.pop("problem", None), options)


def read_pairs(body: Any, choice: ServedChoice) -> list[PairRequest]:
    """Return the pairs of a request."""
    pairs, matrix = getattr(body, "pairs", [body]), getattr(body, "matrix", False)
    group = object() if choice.depends_on_request else None
    return [
        PairRequest(_freeze_text(pair.source), _freeze_text(pair.target), choice, matrix, group)
        for pair in pairs
    ]


def _freeze_text(text: str | list[str]) -> str | tuple[str, ...]:
    return text if isinstance(text, str) else tuple(text)


class PhraseMessage(BaseModel):
    """Words of both sides that are linked, directly or through each other."""

    source: list[int]
    target: list[int]
    weight: float = Field(description="Mean weight of the links between the words.")
    type: PhraseType = Field(description="Number of words on each side, one or several.")


class AlignmentMessage(BaseModel):
    """The words, the links between them as [source, target, weight], and the words without a link."""

    source: list[str] = Field(description="Words of the source.")
    target: list[str] = Field(description="Words of the target.")
    links: list[tuple[int, int, float]] = Field(
        description="Source word, target word and weight of each link; words count from 0."
    )
    source_nulls: list[int] = Field(description="Source words without a link.")
    target_nulls: list[int] = Field(description="Target words without a link.")
    source_spans: list[tuple[int, int]] = Field(description="Start and end of each word in the source.")
    target_spans: list[tuple[int, int]] = Field(description="Start and end of each word in the target.")
    source_null_confidence: list[Share] = Field(
        description="Confidence that each source word has no counterpart."
    )
    target_null_confidence: list[Share] = Field(
        description="Confidence that each target word has no counterpart."
    )
    phrase_links: list[PhraseMessage] | None = Field(None, description="The phrases, if requested.")
    converged: bool | None = Field(
        None, description="Whether the solver reached its tolerance, if a transport problem was solved."
    )
    language_warning: str | None = Field(
        None, description="Warning that the aligner does not know the language of the pair, if it seems so."
    )


class _WithSettings(BaseModel):
    settings: dict[str, Any] = Field(description="The settings that were used.")
    signature: str = Field(description="Settings as text, enough to reproduce the result.")


class OneAnswer(_WithSettings, AlignmentMessage):
    """The alignment of one pair."""

    matrix: list[list[Share]] | None = Field(
        None, description="Scores of all word pairs, a row for each source word, if requested."
    )


class ManyAnswers(_WithSettings):
    """The alignments of many pairs, in their order."""

    alignments: list[AlignmentMessage]


class About(BaseModel):
    """The aligner, its settings and its limits."""

    signature: str = Field(description="Settings as text, enough to reproduce the result.")
    languages: list[str] = Field(description="Languages that the aligner knows; empty if it declares none.")
    problem: str = Field(description="Name of the default problem.")
    settings: dict[str, dict[str, Any]] = Field(description="Default settings of each problem.")
    limits: dict[str, int | float] = Field(description="Limits on requests.")
    other: str | None = Field(
        None, description="Path below which a second aligner has the same API, if there is one."
    )


class Health(BaseModel):
    """The state of the server."""

    status: Literal["ok"] = "ok"
    version: str


def write_answer(body: Any, choice: ServedChoice, answers: Sequence[Answer]) -> bytes:
    """Serialize answers to JSON, as `OneAnswer` or `ManyAnswers` according to the request."""
    answer = dict(choice.header)
    if hasattr(body, "pairs"):
        answer["alignments"] = [_get_fields(item, body.phrases) for item in answers]
    else:
        (item,) = answers
        answer |= _get_fields(item, body.phrases)
        if item.matrix is not None:
            answer["matrix"] = item.matrix
    return json.dumps(answer, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _get_fields(answer: Answer, phrases: bool) -> dict[str, Any]:
    optional = {"converged": answer.converged, "language_warning": answer.language_warning}
    found = {key: value for key, value in optional.items() if value is not None}
    return answer.alignment.to_dict(phrases=phrases) | found
