"""Errors as problem details (RFC 9457): `application/problem+json`, for people and programs.

If fields of the request are invalid, `errors` holds what is wrong with each and the JSON pointer to it.
"""

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

MEDIA_TYPE = "application/problem+json"
MOST_ERRORS = 20  # maximum number of fields in a problem
MAX_CHARACTERS = 200  # per field: messages may contain parts of the request
MESSAGES = {"extra_forbidden": "There is no such field; /docs lists all fields"}  # in place of Pydantic's


class Fault(BaseModel):
    """An invalid field of the request."""

    detail: str
    pointer: str = Field(description="JSON pointer to the field (RFC 6901), from the root of the body.")


class ProblemDetails(BaseModel):
    """The reason why a request was not answered (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[Fault] = Field(default=[], description=f"The first {MOST_ERRORS} invalid fields, if any.")


RESPONSES: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "An error of the client or the server.",
        "model": ProblemDetails,  # adds the schema to the components
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}},
    }
}


class RequestError(HTTPException):
    """A request that is not answered.

    Args:
        status: HTTP status.
        detail: The reason.
        errors: Invalid fields as (detail, pointer).
        headers: Headers of the response.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        errors: Sequence[tuple[str, str]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, detail, headers)
        self.errors = errors


def make_busy_problem(detail: str, after: int) -> RequestError:
    """Make the problem of a server that is too busy, with the seconds after which to try again."""
    return RequestError(503, detail, headers={"Retry-After": str(after)})


def make_failure() -> RequestError:
    """Make the problem of an internal error; the log has the details."""
    return RequestError(500, "The server failed to answer this request; its log has the reason.")


def make_response(problem: HTTPException) -> Response:
    """Make the response that reports a problem."""
    errors = problem.errors if isinstance(problem, RequestError) else ()
    body: dict[str, Any] = {"type": "about:blank", "title": HTTPStatus(problem.status_code).phrase}
    body |= {"status": problem.status_code, "detail": problem.detail}
    if errors:
        body["errors"] = [{"detail": detail, "pointer": pointer} for detail, pointer in errors]
    # ASCII, since it may contain arbitrary parts of the request.
    content = json.dumps(body, ensure_ascii=True, allow_nan=False)
    return Response(content, problem.status_code, problem.headers, media_type=MEDIA_TYPE)


def add_handlers(app: FastAPI) -> None:
    """Report all errors of an app as problems."""

    async def handle_http_error(_: Request, error: Any) -> Response:
        return make_response(error)

    async def handle_invalid(_: Request, error: Any) -> Response:
        return make_response(_make_validation_problem(error))

    app.add_exception_handler(HTTPException, handle_http_error)
    app.add_exception_handler(RequestValidationError, handle_invalid)


def _make_validation_problem(error: RequestValidationError) -> RequestError:
    errors = error.errors()
    faults = [
        (
            str(MESSAGES.get(item["type"], item["msg"]))[:MAX_CHARACTERS],
            _make_pointer(item["loc"])[:MAX_CHARACTERS],
        )
        for item in errors[:MOST_ERRORS]
    ]
    detail = "; ".join(f"{pointer[2:] or 'the body'}: {message}" for message, pointer in faults[:3])
    return RequestError(422, detail, faults)


def _make_pointer(location: Sequence[str | int]) -> str:
    """Return the JSON pointer to a field of the body; the tags of union types are no part of it."""
    parts = (str(part) for part in location[1:] if not str(part).startswith("="))
    return "#" + "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in parts)
