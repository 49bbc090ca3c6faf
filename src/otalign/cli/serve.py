"""`otalign serve`: an aligner over HTTP, and a page to try it by hand."""

import math
import sys
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from otalign.cli.aligner_options import AlignerOptions, BatchSize, Device, Threads
from otalign.encoders.onnx import processors
from otalign.server.access import allowed_hosts, check_origin, is_loopback, read_token
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
    workers: Annotated[
        int, typer.Option(min=1, help="Number of processes that serve, each with its own aligner.")
    ] = 1,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN",
            help="Let pages from this origin, scheme://host[:port] or * for any, ask too; may be repeated.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Answer to this host name too, such as that of a proxy; may be repeated. "
            "With --host 0.0.0.0, answer only to these names and those of this machine.",
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(help="File with a token that clients must send as 'Authorization: Bearer TOKEN'."),
    ] = None,
    access_log: Annotated[
        bool, typer.Option("--access-log", help="Write a line for each request to the output.")
    ] = False,
    max_characters: Annotated[int, typer.Option(min=1, help="Of a sentence.")] = Limits.characters,
    max_words: Annotated[int, typer.Option(min=1, help="Of a sentence.")] = Limits.words,
    max_pairs: Annotated[int, typer.Option(min=1, help="Of a request.")] = Limits.pairs,
    max_body: Annotated[int, typer.Option(min=1, help="Bytes of a request.")] = Limits.body,
    max_waiting: Annotated[
        int, typer.Option(min=1, help="Pairs of all requests, not begun.")
    ] = Limits.waiting,
    max_connections: Annotated[
        int, typer.Option(min=1, help="Connections that one process holds open.")
    ] = Limits.connections,
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
        from otalign.server.running import Service
        from otalign.server.workers import listen, supervise
    except ImportError as error:
        raise ImportError("serving needs fastapi and uvicorn: pip install 'otalign[serve]'") from error

    if not 0 < timeout < math.inf:
        raise ValueError(f"--timeout must be a positive number of seconds, got {timeout:g}")
    if workers > 1:
        threads = max(1, (threads or processors()) // workers)
    options = AlignerOptions(model=model, layer=layer, device=device, batch_size=batch_size, threads=threads)
    limits = Limits(
        max_characters, max_words, max_pairs, max_body, timeout, max_waiting, connections=max_connections
    )
    service = Service(
        options.load,
        limits,
        hosts=allowed_hosts(host, allow_host or []),
        origins=tuple(map(check_origin, allow_origin or [])),
        token=None if token_file is None else read_token(token_file),
        access_log=access_log,
    )
    with ExitStack() as sockets:
        listening = [sockets.enter_context(one) for one in listen(host, port, workers)]
        tell = partial(_tell, host, listening[0].getsockname()[1], token_file is not None)
        if workers > 1:
            supervise(service, listening, tell)
            return
        aligner = service.load()
        server = service.make_server(aligner)
        tell(aligner.signature)
        with suppress(KeyboardInterrupt):  # which uvicorn raises once more when all is done
            server.run(sockets=listening)


def _tell(host: str, port: int, has_token: bool, signature: str) -> None:
    """Print where the server is, what it aligns with, and a warning if others may reach it."""
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
