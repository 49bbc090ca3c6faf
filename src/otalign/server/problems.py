"""Refusals and failures as problem details (RFC 9457): `application/problem+json`, for people and programs.

Where a field of the request is at fault, `errors` holds what is wrong and the JSON pointer to the field.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

MEDIA_TYPE = "application/problem+json"
MOST_ERRORS = 20  # fields at fault that are named
LONGEST = 200  # characters of what is told of each: parts of the request may stand in it


class Fault(BaseModel):
    """A field of the request that cannot be taken."""

    detail: str
    pointer: str = Field(description="To the field, as in RFC 6901, from the root of the body.")


class Problem(BaseModel):
    """Why a request was not answered (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[Fault] = Field(
        default=[], description=f"The first {MOST_ERRORS} fields at fault, if some are."
    )


RESPONSES: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "A refusal or a failure.",
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
}


class Refused(HTTPException):
    """A request that is not answered: a status, why, and the fields at fault as (detail, pointer)."""

    def __init__(
        self,
        status: int,
        detail: str,
        errors: Sequence[tuple[str, str]] = (),
        headers: Mapping[str, str] | None = None,
    ):
        super().__init__(status, detail, headers)
        self.errors = errors


def busy(detail: str, after: int) -> Refused:
    """That the server has too much to do now, and after how many seconds it may be asked again."""
    return Refused(503, detail, headers={"Retry-After": str(after)})


def failure() -> Refused:
    """That something went wrong here, of which only the log says more."""
    return Refused(500, "The server has failed at this; its log says why.")


def response(problem: HTTPException) -> Response:
    """What the client is sent."""
    faults = problem.errors if isinstance(problem, Refused) else ()
    said: dict[str, Any] = {"type": "about:blank", "title": HTTPStatus(problem.status_code).phrase}
    said |= {"status": problem.status_code, "detail": problem.detail}
    if faults:
        said["errors"] = [{"detail": detail, "pointer": pointer} for detail, pointer in faults]
    # What the client sent may stand in it, whatever it was.
    content = json.dumps(said, ensure_ascii=True, allow_nan=False)
    return Response(content, problem.status_code, problem.headers, media_type=MEDIA_TYPE)


def handle_in(app: FastAPI) -> None:
    """Tell every refusal of the app so."""

    async def answer_refused(_: Request, error: Any) -> Response:
        return response(error)

    async def invalid(_: Request, error: Any) -> Response:
        return response(_invalid(error))

    app.add_exception_handler(HTTPException, answer_refused)
    app.add_exception_handler(RequestValidationError, invalid)


def _invalid(error: RequestValidationError) -> Refused:
    found = error.errors()
    if any(one["type"] == "json_invalid" for one in found):
        (one,) = found
        return Refused(400, f"The body is not JSON: {one['ctx']['error']} at character {one['loc'][-1]}.")
    faults = [
        (one["msg"][:LONGEST], ("#" + "".join(f"/{part}" for part in _path(one["loc"])))[:LONGEST])
        for one in found[:MOST_ERRORS]
    ]
    detail = "; ".join(f"{pointer[2:] or 'the body'}: {message}" for message, pointer in faults[:3])
    return Refused(422, detail, faults)


def _path(place: Sequence[str | int]) -> Iterator[str]:
    """The place in the body; of a choice between kinds, the name of the kind is no part of it."""
    for part in place[1:]:
        if not str(part).startswith("="):
            yield str(part).replace("~", "~0").replace("/", "~1")
