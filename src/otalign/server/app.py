"""The server: an aligner as an ASGI app."""

import asyncio
import time
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Annotated, TypeVar

from fastapi import Body, Depends, FastAPI, Request, Response
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import PlainTextResponse

import otalign
from otalign.aligner import Aligner
from otalign.server import messages, page, problems
from otalign.server.batching import RequestQueue
from otalign.server.choices import Choices
from otalign.server.guards import Guard
from otalign.server.limits import Limits
from otalign.server.metrics import Metrics
from otalign.server.work import AlignmentWorker, Ask

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
    """The app. It answers to the names `hosts`, or to any; pages from `origins` may ask it too. Clients must
    know the `token`, if there is one."""
    choices = Choices(aligner)
    batches = RequestQueue(AlignmentWorker(aligner, limits.words), limits.waiting)
    metrics = metrics or Metrics()
    state = State(batches)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        batches.start()
        state.warm_up(Ask("The first pair", "takes longer", choices.choose()))
        yield
        batches.stop()

    app = FastAPI(
        title="otalign",
        version=otalign.__version__,
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,  # those pages would fetch their scripts from elsewhere
        redoc_url=None,
        responses=problems.RESPONSES,
    )
    problems.handle_in(app)
    app.add_middleware(Guard, limits=limits, metrics=metrics, hosts=hosts, token=token)
    if origins:  # outside, so that a page that may ask is told of refusals as well
        app.add_middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type"],
        )
    page.serve_in(app)
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
        """Align one pair, or many: the answers are those to `source` and `target`, or to `pairs`."""
        start = time.perf_counter()
        choice = messages.read_choice(body, choices)
        asks = messages.read_asks(body, choice)
        answered = batches.submit(asks)
        metrics.set_queue(batches.waiting)
        try:
            answers = await _unless_client_leaves(request, answered)
        finally:
            metrics.set_queue(batches.waiting)
        if answers is None:
            return Response(status_code=499)  # which nobody receives, but is counted
        metrics.count_alignment(len(asks), time.perf_counter() - start)
        return Response(messages.write_answer(body, choice, answers), media_type="application/json")

    about = messages.About(
        signature=aligner.signature,
        problem=choices.default,
        settings={name: choice.settings.get_options() for name, choice in choices.offered.items()},
        limits=asdict(limits),
    )

    @app.get("/v1/aligner")
    async def aligner_() -> messages.About:
        """What this server aligns with, what may be chosen, and how much may be asked for."""
        return about

    @app.get("/healthz")
    async def health() -> messages.Health:
        """Whether the server is alive; if not, it must be started again."""
        if not batches.alive:
            raise problems.Refused(503, "the thread that aligns has ended")
        return messages.Health(version=otalign.__version__)

    @app.get("/readyz")
    async def ready() -> messages.Health:
        """Whether a request would be answered now."""
        state.check()
        return messages.Health(version=otalign.__version__)

    @app.get("/metrics", response_class=PlainTextResponse)
    async def metrics_() -> Response:
        """Requests, pairs, queue and latency in Prometheus's text format."""
        metrics.set_queue(batches.waiting)
        return PlainTextResponse(metrics.to_prometheus(), media_type="text/plain; version=0.0.4")

    return app


class State:
    """Report whether requests would be answered now."""

    def __init__(self, batches: RequestQueue):
        self._batches = batches

    def warm_up(self, ask: Ask) -> None:
        """Have a pair aligned, since the first takes longer than others."""
        self._first = self._batches.submit([ask])

    def check(self) -> None:
        """Raise what a client is told if the server is not ready."""
        if not self._batches.alive:
            raise problems.Refused(503, "the thread that aligns has ended")
        if not self._first.done():
            raise problems.busy("the aligner is warming up", after=1)
        if self._first.exception() is not None:
            raise problems.Refused(503, "the aligner has failed at its first pair; its log says why")
        if self._batches.full:
            raise problems.busy(f"{self._batches.waiting:,} pairs are waiting already", after=1)


async def _check_content_type(request: Request) -> None:
    given = request.headers.get("content-type", "")
    if given.partition(";")[0].strip().lower() != "application/json":
        got = f"got {given[:100]!r}" if given else "but there is none"
        raise problems.Refused(415, f"the content type must be application/json, {got}")


async def _unless_client_leaves(request: Request, answered: asyncio.Future[T]) -> T | None:
    """Wait for an answer, but drop the work as soon as the client hangs up; then return None."""

    async def wait_until_it_leaves() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    leaving = asyncio.create_task(wait_until_it_leaves())
    leaving.add_done_callback(lambda _: answered.cancel())
    try:
        return await answered
    except asyncio.CancelledError:
        if not leaving.done():
            raise
        return None
    finally:
        leaving.cancel()
