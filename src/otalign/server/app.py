"""The server as an ASGI app."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import asdict
from typing import Annotated, TypeVar

from fastapi import Body, Depends, FastAPI, Request, Response
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import PlainTextResponse

import otalign
from otalign.aligner import Aligner
from otalign.server import errors, messages, page
from otalign.server.batching import RequestQueue
from otalign.server.choices import Choices
from otalign.server.guards import Guard
from otalign.server.limits import Limits
from otalign.server.metrics import Metrics
from otalign.server.work import AlignmentWorker, PairRequest

T = TypeVar("T")

DESCRIPTION = "Word alignment between two sentences, with the words that have no counterpart."


def make_app(
    aligner: Aligner,
    limits: Limits = Limits(),
    *,
    hosts: Collection[str] | None = None,
    origins: Sequence[str] = (),
    token: str | None = None,
    metrics: Metrics | None = None,
) -> FastAPI:
    """Make the app.

    Args:
        aligner: The aligner.
        limits: Limits on requests.
        hosts: Host names that it answers to; None for any.
        origins: Origins of other pages that may use it.
        token: Token that clients must send; None for none.
        metrics: Counters of this process.

    Returns:
        The app.
    """
    choices = Choices(aligner)
    batches = RequestQueue(AlignmentWorker(aligner, limits.words), limits.waiting)
    metrics = metrics or Metrics()
    state = State(batches)
    app = FastAPI(
        title="otalign",
        version=otalign.__version__,
        description=DESCRIPTION,
        lifespan=_make_lifespan(state, choices),
        docs_url=None,  # these pages would load scripts from other servers
        redoc_url=None,
        responses=errors.RESPONSES,
    )
    errors.add_handlers(app)
    app.add_middleware(Guard, limits=limits, metrics=metrics, hosts=hosts, token=token)
    if origins:  # outermost, so that allowed pages can read errors as well
        _allow_origins(app, origins)
    page.add_page(app)
    _add_align_route(app, choices, limits, batches, metrics)
    _add_status_routes(app, _describe_aligner(aligner, choices, limits), state, metrics)
    return app


def _make_lifespan(
    state: "State", choices: Choices
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        state.batches.start()
        state.warm_up(PairRequest("The first pair", "takes longer", choices.choose()))
        yield
        state.batches.stop()

    return lifespan


def _allow_origins(app: FastAPI, origins: Sequence[str]) -> None:
    app.add_middleware(
        CORSMiddleware,
        allow_origins=origins,
        allow_methods=["GET", "POST"],
        allow_headers=["Authorization", "Content-Type"],
    )


def _describe_aligner(aligner: Aligner, choices: Choices, limits: Limits) -> messages.About:
    return messages.About(
        signature=aligner.signature,
        languages=list(aligner.languages),
        problem=choices.default,
        settings={name: choice.settings.get_options() for name, choice in choices.offered.items()},
        limits=asdict(limits),
    )


def _add_align_route(
    app: FastAPI, choices: Choices, limits: Limits, batches: RequestQueue, metrics: Metrics
) -> None:
    RequestBody = messages.make_request_type(choices, limits)

    @app.post(
        "/v1/align",
        response_model=messages.OneAnswer | messages.ManyAnswers,
        dependencies=[Depends(_check_content_type)],
    )
    async def align(
        request: Request,
        body: Annotated[RequestBody, Body()],  # pyright: ignore[reportInvalidTypeForm]
    ) -> Response:
        """Align one pair, given as `source` and `target`, or many, given as `pairs`."""
        start = time.perf_counter()
        choice = messages.read_choice(body, choices)
        pairs = messages.read_pairs(body, choice)
        future = batches.submit(pairs)
        metrics.set_queue(batches.waiting)
        try:
            answers = await _wait_for_answer(request, future)
        finally:
            metrics.set_queue(batches.waiting)
        if answers is None:
            return Response(status_code=499)  # nobody receives it, but it is counted
        metrics.count_alignment(len(pairs), time.perf_counter() - start)
        return Response(messages.write_answer(body, choice, answers), media_type="application/json")


def _add_status_routes(app: FastAPI, about: messages.About, state: "State", metrics: Metrics) -> None:
    batches = state.batches

    @app.get("/v1/aligner")
    async def aligner_() -> messages.About:
        """Return the aligner, its settings, and the limits on requests."""
        return about

    @app.get("/healthz")
    async def health() -> messages.Health:
        """Return whether the server is alive; if not, it must be restarted."""
        if not batches.alive:
            raise errors.RequestError(503, "the alignment thread has ended")
        return messages.Health(version=otalign.__version__)

    @app.get("/readyz")
    async def ready() -> messages.Health:
        """Return whether the server can answer requests now."""
        state.check()
        return messages.Health(version=otalign.__version__)

    @app.get("/metrics", response_class=PlainTextResponse)
    async def metrics_() -> Response:
        """Return requests, pairs, queue and latency in Prometheus's text format."""
        metrics.set_queue(batches.waiting)
        return PlainTextResponse(metrics.to_prometheus(), media_type="text/plain; version=0.0.4")


class State:
    """The readiness of the server."""

    def __init__(self, batches: RequestQueue) -> None:
        self.batches = batches

    def warm_up(self, ask: PairRequest) -> None:
        """Align a first pair, which takes longer than others."""
        self._first = self.batches.submit([ask])

    def check(self) -> None:
        """Raise RequestError if the server is not ready."""
        if not self.batches.alive:
            raise errors.RequestError(503, "the alignment thread has ended")
        if not self._first.done():
            raise errors.make_busy_problem("the aligner is warming up", after=1)
        if self._first.exception() is not None:
            raise errors.RequestError(
                503, "the aligner failed to align its first pair; the log has the reason"
            )
        if self.batches.full:
            raise errors.make_busy_problem(f"{self.batches.waiting:,} pairs are waiting already", after=1)


async def _check_content_type(request: Request) -> None:
    content_type = request.headers.get("content-type", "")
    if content_type.partition(";")[0].strip().lower() != "application/json":
        got = f"got {content_type[:100]!r}" if content_type else "but there is none"
        raise errors.RequestError(415, f"the content type must be application/json, {got}")


async def _wait_for_answer(request: Request, answer: asyncio.Future[T]) -> T | None:
    """Wait for an answer; cancel it and return None as soon as the client disconnects."""

    async def wait_for_disconnect() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    disconnect = asyncio.create_task(wait_for_disconnect())
    disconnect.add_done_callback(lambda _: answer.cancel())
    try:
        return await answer
    except asyncio.CancelledError:
        if not disconnect.done():
            raise
        return None
    finally:
        disconnect.cancel()
