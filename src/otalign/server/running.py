"""The server as a process: uvicorn with the app, the limits on connections and the access log."""

import gc
import logging
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import uvicorn
from fastapi import FastAPI

from otalign.aligner import Aligner
from otalign.server.app import make_app
from otalign.server.connections import LimitedConnection
from otalign.server.guards import access_log
from otalign.server.limits import Limits
from otalign.server.metrics import Metrics

BACKLOG = 2048  # connections that wait to be accepted


@dataclass(frozen=True)
class Service:
    """A server's options. It can be pickled if `load` can.

    Attributes:
        load: Function that loads the aligner.
        limits: Limits on requests.
        hosts: Host names that it answers to; None for any.
        origins: Origins of other pages that may use it.
        token: Token that clients must send; None for none.
        access_log: Whether requests are logged to standard output.
        load_other: Function that loads a second aligner, for the page to compare; None for none.
    """

    load: Callable[[], Aligner]
    limits: Limits = Limits()
    hosts: frozenset[str] | None = None
    origins: tuple[str, ...] = ()
    token: str | None = None
    access_log: bool = False
    load_other: Callable[[], Aligner] | None = None

    def make_server(self, aligner: Aligner, metrics: Metrics | None = None) -> uvicorn.Server:
        """Make the server of this process, to be run with a listening socket."""
        if self.access_log:
            access_log.addHandler(logging.StreamHandler(sys.stdout))
            access_log.setLevel(logging.INFO)
            access_log.propagate = False
        gc.collect()
        gc.freeze()  # else the collector traverses all loaded objects for each large body
        metrics = metrics or Metrics()
        app = make_app(
            aligner,
            self.limits,
            hosts=self.hosts,
            origins=self.origins,
            token=self.token,
            metrics=metrics,
            other=self.load_other and self.load_other(),
        )
        return make_server(app, self.limits, metrics)


def make_server(app: FastAPI, limits: Limits = Limits(), metrics: Metrics | None = None) -> uvicorn.Server:
    """Make a server of an app, with limits on connections."""
    connection: Any = partial(LimitedConnection, limits=limits, refused=(metrics or Metrics()).count_request)
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=connection,
            ws="none",
            log_level="error",  # a warning for each bad request would fill the log
            access_log=False,
            server_header=False,
            backlog=BACKLOG,
            timeout_keep_alive=math.ceil(limits.idle_seconds),
            timeout_graceful_shutdown=math.ceil(limits.seconds) + 1,
        )
    )
