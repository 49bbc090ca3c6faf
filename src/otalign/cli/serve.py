"""`otalign serve`: an aligner over HTTP, and a page to try it by hand."""

import ipaddress
import math
import socket
import sys
from contextlib import suppress
from typing import Annotated

import typer

from otalign.cli.aligning import AlignerOptions, BatchSize, Device, Threads
from otalign.server.limits import Limits

# Subwords in a batch. Of the few pairs that come at once, few are as long: larger batches are half padding.
SMALL = 256


def serve(
    model: Annotated[
        str | None,
        typer.Option(
            envvar="OTALIGN_MODEL",
            help="An aligner's folder, an encoder's folder, or a model's name on the Hugging Face hub.",
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen at; other machines reach 0.0.0.0.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any that is free.")] = 8000,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN", help="Pages from there may ask too; several times for several, * for any."
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Answer to this name too, that of a proxy before this server."),
    ] = None,
    max_characters: Annotated[int, typer.Option(min=1, help="Of a sentence.")] = Limits.characters,
    max_words: Annotated[int, typer.Option(min=1, help="Of a sentence.")] = Limits.words,
    max_pairs: Annotated[int, typer.Option(min=1, help="Of a request.")] = Limits.pairs,
    max_body: Annotated[int, typer.Option(min=1, help="Bytes of a request.")] = Limits.body,
    max_waiting: Annotated[
        int, typer.Option(min=1, help="Pairs of all requests, not begun.")
    ] = Limits.waiting,
    timeout: Annotated[
        float, typer.Option(help="Seconds until a request must be answered.")
    ] = Limits.seconds,
    layer: Annotated[int | None, typer.Option(help="Of the encoder; 0 are its embeddings.")] = None,
    device: Device = None,
    batch_size: BatchSize = SMALL,
    threads: Threads = None,
) -> None:
    """Serve an aligner: POST /v1/align for programs, a page on / for people.

    Requests of all clients are worked on together. The server is reached from this machine alone unless
    --host says otherwise. Interrupted, it answers what it has begun and ends.

    Example: otalign serve --model my-aligner/ --port 8080
    """
    try:
        import uvicorn

        from otalign.server.app import app_for
    except ImportError as error:
        raise ImportError("serving needs fastapi and uvicorn: pip install 'otalign[serve]'") from error
    from otalign.server.guards import LOOPBACK

    if not 0 < timeout < math.inf:
        raise ValueError(f"--timeout must be a positive number of seconds, got {timeout:g}")
    limits = Limits(max_characters, max_words, max_pairs, max_body, timeout, max_waiting)
    options = AlignerOptions(model=model, layer=layer, device=device, batch_size=batch_size, threads=threads)
    aligner = options.load()
    hosts = {*LOOPBACK, host, *(allow_host or [])} if _is_loopback(host) else None
    app = app_for(aligner, limits, hosts=hosts, origins=allow_origin or [])
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family, backlog=2048) as listening:
        name = f"[{host}]" if ":" in host else host
        print(
            f"http://{name}:{listening.getsockname()[1]}/  {aligner.signature}", file=sys.stderr, flush=True
        )
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=int(timeout) + 1,
        )
        with suppress(KeyboardInterrupt):  # which uvicorn raises once more when all is done
            uvicorn.Server(config).run(sockets=[listening])


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
