"""`otalign serve`: an aligner over HTTP, with a page to try it."""

import inspect
import math
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from otalign.cli.aligner_options import AlignerOptions, Model
from otalign.cli.options import Device, Layer, Threads, complete_model, expand_parameter
from otalign.cli.panels import HARDWARE, MODEL, SERVER, SERVER_LIMITS
from otalign.cli.terminal import show_activity
from otalign.processes import count_processors
from otalign.server.access import allowed_hosts, check_origin, is_loopback, read_token
from otalign.server.limits import Limits

# Subwords in a batch. Of the few pairs that come at once, few are as long: larger batches are half padding.
SMALL = 256
LIMITS = {  # option → field of `Limits` and help
    "max_characters": ("characters", "Longest sentence, in characters."),
    "max_words": ("words", "Longest sentence, in words."),
    "max_pairs": ("pairs", "Maximum number of pairs in a request."),
    "max_body": ("body", "Largest request, in bytes."),
    "max_waiting": ("waiting", "Maximum number of pairs that wait, of all requests."),
    "max_wait": (
        "queue_seconds",
        "Longest expected wait of a request for others, in seconds; a longer one is refused at once.",
    ),
    "max_connections": ("connections", "Maximum number of open connections of a process."),
    "timeout": ("seconds", "Time until a request must be answered, in seconds."),
}


def with_server_limits(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command options for the limits of the server, instead of its parameter `limits`."""
    options = []
    for name, (limit, text) in LIMITS.items():
        default = getattr(Limits, limit)
        least = 1 if isinstance(default, int) else None
        declared = typer.Option(min=least, metavar="N", help=text, rich_help_panel=SERVER_LIMITS)
        annotation = Annotated[type(default), declared]
        options.append(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        )
    return expand_parameter(command, "limits", options, _build_limits)


def _build_limits(**given: Any) -> Limits:
    for name in ("timeout", "max_wait"):
        if not 0 < given[name] < math.inf:
            option = "--" + name.replace("_", "-")
            raise ValueError(f"{option} must be a positive number of seconds, got {given[name]:g}")
    return Limits(**{LIMITS[name][0]: value for name, value in given.items()})


@with_server_limits
def serve(
    limits: Limits,
    model: Model = None,
    compare: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Second model, which the page shows beside the first.",
            show_default="none",
            rich_help_panel=MODEL,
            autocompletion=complete_model,
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Address to listen at; 0.0.0.0 lets other machines connect.",
            rich_help_panel=SERVER,
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            min=0,
            max=65535,
            metavar="N",
            help="Port to listen at; 0 is any that is free.",
            rich_help_panel=SERVER,
        ),
    ] = 8000,
    workers: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="Number of processes that serve, each with its own aligner.",
            rich_help_panel=SERVER,
        ),
    ] = 1,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN",
            help="Origin whose pages may send requests: scheme://host:port, or * for any; may be repeated.",
            rich_help_panel=SERVER,
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Host name to answer to, such as that of a proxy; may be repeated. With --host 0.0.0.0, "
            "only these names and those of this machine are answered.",
            rich_help_panel=SERVER,
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File with a token that clients must send as 'Authorization: Bearer TOKEN'.",
            rich_help_panel=SERVER,
        ),
    ] = None,
    access_log: Annotated[
        bool,
        typer.Option(
            "--access-log", help="Write a line for each request to standard output.", rich_help_panel=SERVER
        ),
    ] = False,
    layer: Layer = None,
    device: Device = None,
    batch_size: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Number of subwords that the encoder reads at once.",
            rich_help_panel=HARDWARE,
        ),
    ] = SMALL,
    threads: Threads = None,
) -> None:
    """Serve an aligner over HTTP, with a page to try it.

    Programs send requests to POST /v1/align; people open the page at /. Requests of all clients are aligned
    together. Only this machine can connect unless --host is given. After an interrupt, the server answers the
    requests that it has started.

    Examples:
        otalign serve --port 8080
        otalign serve --model small --compare my-aligner/
        otalign serve --model my-aligner/ --host 0.0.0.0 --token-file token.txt
    """
    try:
        from otalign.server.running import Service
        from otalign.server.workers import listen, supervise
    except ImportError as error:
        raise ImportError("serving needs fastapi and uvicorn: pip install 'otalign[serve]'") from error

    if workers > 1:
        threads = max(1, (threads or count_processors()) // workers)
    options = AlignerOptions(model=model, layer=layer, device=device, batch_size=batch_size, threads=threads)
    service = Service(
        options.load,
        limits,
        hosts=allowed_hosts(host, allow_host or []),
        origins=tuple(map(check_origin, allow_origin or [])),
        token=None if token_file is None else read_token(token_file),
        access_log=access_log,
        load_other=None if compare is None else replace(options, model=compare, layer=None).load,
    )
    with ExitStack() as sockets:
        listening = [sockets.enter_context(one) for one in listen(host, port, workers)]
        announce = partial(_announce, host, listening[0].getsockname()[1], token_file is not None)
        if workers > 1:
            supervise(service, listening, announce)
            return
        with show_activity("loading the model"):
            aligner = service.load()
        server = service.make_server(aligner)
        announce(aligner.signature)
        with suppress(KeyboardInterrupt):  # which uvicorn raises once more when all is done
            server.run(sockets=listening)


def _announce(host: str, port: int, has_token: bool, signature: str) -> None:
    """Print the address of the server, its aligner, and a warning if other machines can connect."""
    name = f"[{host}]" if ":" in host else host
    print(f"http://{name}:{port}/  {signature}", file=sys.stderr, flush=True)
    if is_loopback(host):
        return
    if has_token:
        risk = "and what they send, the token included, is not encrypted"
    else:
        risk = "and may use this server; require a token with --token-file"
    print(
        f"otalign: warning: other machines reach {name}:{port} {risk}; put a proxy with HTTPS before it",
        file=sys.stderr,
        flush=True,
    )
