"""Alignments as a command writes them: whole lines, or drawings on a terminal.

That the place can be written is found out before the work; what stood there is lost only once it begins.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from rich.console import Console

from otalign.alignment import Alignment
from otalign.corpus.parquet import library
from otalign.corpus.text import opened
from otalign.engines.forms import LINES, SUFFIXES, Form
from otalign.render.matrix import matrix as grid
from otalign.render.terminal import drawn

FORMATS = (*LINES, "terminal")
Put = Callable[[Alignment], None]


def format_of(said: str | None, output: Path | None, matrix: bool) -> str:
    """The form of the output, as said or as the place suggests; a matrix can only be drawn."""
    if matrix and (said or "terminal") == "terminal" and output is None:
        return "terminal"
    if matrix:
        raise ValueError("--matrix is drawn on the terminal, so leave out --format and --output")
    if said is None:
        return "terminal" if output is None and sys.stdout.isatty() else "pharaoh"
    if said not in FORMATS:
        raise ValueError(f"--format must be one of {', '.join(FORMATS)}, got {said!r}")
    if said == "terminal" and output is not None:
        raise ValueError("--format terminal draws on a terminal, so leave out --output")
    return said


def shard_form(said: str | None, weights: bool, nulls: bool, matrix: bool) -> Form:
    """The form of shards, as said or else that which holds everything."""
    if matrix:
        raise ValueError("--matrix is drawn on the terminal, so leave out --output")
    if said is not None and said not in SUFFIXES:
        raise ValueError(f"--format of shards must be one of {', '.join(SUFFIXES)}, got {said!r}")
    if said == "parquet":
        library()  # without pyarrow it fails, and should before the work
    return Form(said or "jsonl", weights, nulls)


def make_writable(folder: Path) -> None:
    """Make a folder, or say why not; that it can be written into is found out before the work."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "writable").touch()
        (folder / "writable").unlink()
    except OSError as error:
        raise ValueError(f"cannot write into {folder}: {error.strerror}") from error


@contextmanager
def writable(output: Path | None, inputs: Sequence[str]) -> Iterator[None]:
    """A check that the output can be written; should the work not begin, what is there stays as it was."""
    if output is None:
        yield
        return
    if any(os.path.exists(file) and output.exists() and output.samefile(file) for file in inputs):
        raise ValueError(f"{output} is an input too; write to another file")
    new = not output.exists()
    try:
        output.open("ab").close()
    except OSError as error:
        raise ValueError(f"cannot write {output}: {error.strerror}") from error
    try:
        yield
    except BaseException:
        if new and not output.stat().st_size:
            output.unlink()
        raise


@contextmanager
def writer(output: Path | None, form: str, *, weights: bool, nulls: bool, matrix: bool) -> Iterator[Put]:
    """What puts alignments in their place, one by one."""
    if form == "terminal":
        console = Console(highlight=False)
        yield lambda alignment: console.print((grid if matrix else drawn)(alignment), "")
        return
    line = Form(form, weights, nulls).line
    with line_writer(output) as put:
        yield lambda alignment: put(line(alignment))


@contextmanager
def line_writer(output: Path | None) -> Iterator[Callable[[str], None]]:
    """What puts lines in their place, each of them whole."""
    file = sys.stdout.buffer if output is None else opened(output, "wb")
    try:
        yield lambda line: _write_whole(file, line)
    finally:
        if output is not None:
            file.close()


def _write_whole(file: BinaryIO, line: str) -> None:
    """All of a line or nothing: signals wait until it is written."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        file.write(line.encode() + b"\n")
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        file.write(line.encode() + b"\n")
        file.flush()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def place(folder: Path, name: str) -> Iterator[Path]:
    """A folder of this name inside one that is to be made, where the work on that is kept. That it can be
    written is found out before the work, and nothing that was there already but such work is written over;
    should the work not begin, no trace of it is left."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file; give a new folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / name).is_dir():
        raise ValueError(f"{folder} is there already and not empty; give a new folder")
    work, new = folder / name, not folder.exists()
    make_writable(folder)
    work.mkdir(exist_ok=True)
    try:
        yield work
    except BaseException:
        if not any(work.iterdir()):
            work.rmdir()
            if new:
                folder.rmdir()
        raise
