"""The server: an aligner as an ASGI app."""

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Annotated

from fastapi import Body, FastAPI, Response
from fastapi.middleware.cors import CORSMiddleware

import otalign
from otalign.aligner import Aligner, signature
from otalign.server import messages, page, problems
from otalign.server.batching import Batches
from otalign.server.choices import Choices, told
from otalign.server.guards import Guard
from otalign.server.limits import Limits
from otalign.server.work import Work

DESCRIPTION = "Word alignment between two sentences, with the words that have no counterpart."


def app_for(
    aligner: Aligner,
    limits: Limits = Limits(),
    *,
    hosts: Collection[str] | None = None,
    origins: Sequence[str] = (),
) -> FastAPI:
    """The app. It answers to the names `hosts`, or to any; pages from `origins` may ask it too."""
    choices = Choices.of(aligner)
    batches = Batches(Work(aligner, choices, limits.words), limits.waiting)

    @asynccontextmanager
    async def running(_: FastAPI) -> AsyncIterator[None]:
        batches.start()
        yield
        batches.stop()

    app = FastAPI(
        title="otalign",
        version=otalign.__version__,
        description=DESCRIPTION,
        lifespan=running,
        docs_url=None,  # those pages would fetch their scripts from elsewhere
        redoc_url=None,
        responses=problems.RESPONSES,
    )
    problems.handle_in(app)
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=["GET", "POST"],
            allow_headers=["Content-Type"],
        )
    app.add_middleware(Guard, limits=limits, hosts=hosts)  # the last is the outermost
    page.serve_in(app)
    Asked = messages.request_type(choices, limits)

    @app.post("/v1/align", response_model=messages.OneAnswer | messages.ManyAnswers)
    async def align(body: Annotated[Asked, Body()]) -> Response:  # pyright: ignore[reportInvalidTypeForm]
        """Align one pair, or many: the answers are those to `source` and `target`, or to `pairs`."""
        settings = messages.settings_of(body, choices)
        answers = await batches.answers(messages.asks_of(body, settings))
        return Response(messages.answer_to(body, settings, answers), media_type="application/json")

    about = messages.About(
        signature=signature(choices.chosen().fields()),
        problem=choices.default,
        settings={name: told(settings) for name, settings in choices.settings.items()},
        limits=asdict(limits),
    )

    @app.get("/v1/aligner")
    async def aligner_() -> messages.About:
        """What this server aligns with, what may be chosen, and how much may be asked for."""
        return about

    @app.get("/healthz")
    async def health() -> messages.Health:
        """Whether the server can align."""
        if not batches.alive:
            raise problems.Refused(503, "the thread that aligns has ended")
        return messages.Health(version=otalign.__version__)

    return app
