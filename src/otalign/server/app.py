"""The server as an ASGI app."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import asdict
from typing import Annotated, TypeVar

from fastapi import APIRouter, Body, FastAPI, Request, Response
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import PlainTextResponse

import otalign
from otalign.aligner import Aligner
from otalign.server import errors, messages, page, reference
from otalign.server.batching import RequestQueue
from otalign.server.bodies import make_body_route
from otalign.server.choices import Choices
from otalign.server.guards import Guard
from otalign.server.limits import Limits
from otalign.server.metrics import Metrics
from otalign.server.work import AlignmentWorker, PairRequest

T = TypeVar("T")

DESCRIPTION = "Word alignment between two sentences, with the words that have no counterpart."
OTHER = "/other"  # before the paths of the second aligner


def make_app(
    aligner: Aligner,
    limits: Limits = Limits(),
    *,
    hosts: Collection[str] | None = None,
    origins: Sequence[str] = (),
    token: str | None = None,
    metrics: Metrics | None = None,
    other: Aligner | None = None,
) -> FastAPI:
    """Make the app.

    Args:
        aligner: The aligner.
        limits: Limits on requests.
        hosts: Host names that it answers to; None for any.
        origins: Origins of other pages that may use it.
        token: Token that clients must send; None for none.
        metrics: Counters of this process.
        other: Second aligner, which the page compares with the first; its API is below `/other/`.

    Returns:
        The app.
    """
    served = [ServedAligner(one, limits) for one in (aligner, other) if one is not None]
    metrics = metrics or Metrics()
    state = State(served)
    app = FastAPI(
        title="otalign",
        version=otalign.__version__,
        description=DESCRIPTION,
        lifespan=_make_lifespan(state),
        docs_url=None,  # these pages would load scripts from other servers; `reference` has one that does not
        redoc_url=None,
        responses=errors.RESPONSES,
    )
    errors.add_handlers(app)
    app.add_middleware(Guard, limits=limits, metrics=metrics, hosts=hosts, token=token)
    if origins:  # outermost, so that allowed pages can read errors as well
        _allow_origins(app, origins)
    page.add_page(app)
    for one, prefix in zip(served, ("", OTHER), strict=False):
        about = one.describe(limits, OTHER.lstrip("/") + "/" if other and not prefix else None)
        _add_aligner_routes(app, one, about, limits, state, metrics, prefix)
    _add_status_routes(app, state, metrics)
    reference.add_reference(app)
    return app


class ServedAligner:
    """An aligner with the settings that it offers and the queue of its requests."""

    def __init__(self, aligner: Aligner, limits: Limits) -> None:
        self.aligner, self.choices = aligner, Choices(aligner)
        worker = AlignmentWorker(aligner, limits.words)
        self.batches = RequestQueue(worker, limits.waiting, limits.queue_seconds)

    def describe(self, limits: Limits, other: str | None) -> messages.About:
        """Return what clients may know and choose."""
        return messages.About(
            signature=self.aligner.signature,
            languages=list(self.aligner.languages),
            problem=self.choices.default,
            settings={name: one.settings.get_options() for name, one in self.choices.offered.items()},
            limits=asdict(limits),
            other=other,
        )


def _make_lifespan(state: "State") -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        state.start()
        yield
        state.stop()

    return lifespan


def _allow_origins(app: FastAPI, origins: Sequence[str]) -> None:
    app.add_middleware(
        CORSMiddleware,
        allow_origins=origins,
        allow_methods=["GET", "POST"],
        allow_headers=["Authorization", "Content-Type"],
    )


def _add_aligner_routes(
    app: FastAPI,
    served: ServedAligner,
    about: messages.About,
    limits: Limits,
    state: "State",
    metrics: Metrics,
    prefix: str,
) -> None:
    choices, batches = served.choices, served.batches
    in_schema = not prefix  # the API of a second aligner is the same, with its own settings
    RequestBody = messages.make_request_type(choices, limits)

    router = APIRouter(route_class=make_body_route(RequestBody))

    @router.post(
        f"{prefix}/v1/align",
        include_in_schema=in_schema,
        response_model=messages.OneAnswer | messages.ManyAnswers,
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
        metrics.set_queue(state.waiting)
        try:
            answers = await _wait_for_answer(request, future)
        finally:
            metrics.set_queue(state.waiting)
        if answers is None:
            return Response(status_code=499)  # nobody receives it, but it is counted
        metrics.count_alignment(len(pairs), time.perf_counter() - start)
        return Response(messages.write_answer(body, choice, answers), media_type="application/json")

    app.include_router(router)

    @app.get(f"{prefix}/v1/aligner", include_in_schema=in_schema, response_model_exclude_none=True)
    async def aligner_() -> messages.About:
        """Return the aligner, its settings, and the limits on requests."""
        return about


def _add_status_routes(app: FastAPI, state: "State", metrics: Metrics) -> None:
    @app.get("/healthz")
    async def health() -> messages.Health:
        """Return whether the server is alive; if not, it must be restarted."""
        if not state.alive:
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
        metrics.set_queue(state.waiting)
        return PlainTextResponse(metrics.to_prometheus(), media_type="text/plain; version=0.0.4")


class State:
    """The readiness of the server."""

    def __init__(self, served: Sequence[ServedAligner]) -> None:
        self.served = served

    @property
    def alive(self) -> bool:
        """True if all aligners can work."""
        return all(one.batches.alive for one in self.served)

    @property
    def waiting(self) -> int:
        """The number of pairs that wait."""
        return sum(one.batches.waiting for one in self.served)

    def start(self) -> None:
        """Start the aligners, and align a first pair with each, which takes longer than others."""
        self._first = []
        for one in self.served:
            one.batches.start()
            first = PairRequest("The first pair", "takes longer", one.choices.choose())
            self._first.append(one.batches.submit([first]))

    def stop(self) -> None:
        """Stop the aligners."""
        for one in self.served:
            one.batches.stop()

    def check(self) -> None:
        """Raise RequestError if the server is not ready."""
        if not self.alive:
            raise errors.RequestError(503, "the alignment thread has ended")
        if not all(first.done() for first in self._first):
            raise errors.make_busy_problem("the aligner is warming up", after=1)
        if any(first.exception() is not None for first in self._first):
            raise errors.RequestError(
                503, "the aligner failed to align its first pair; the log has the reason"
            )
        for one in self.served:
            one.batches.check()


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
