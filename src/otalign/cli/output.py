"""Alignments as a command writes them: whole lines, or drawings on a terminal.

That the place can be written is found out before the work; what stood there is replaced once all is written.
"""

import os
import signal
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from rich.console import Console

from otalign.alignment import Alignment
from otalign.atomic import open_atomic
from otalign.io.lines import STDIN, compress
from otalign.io.parquet import library
from otalign.io.writing import LINES, SUFFIXES, OutputFormat
from otalign.render.matrix import matrix as grid
from otalign.render.terminal import draw

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


def shard_form(said: str | None, weights: bool, nulls: bool, matrix: bool) -> OutputFormat:
    """The form of shards, as said or else that which holds everything."""
    if matrix:
        raise ValueError("--matrix is drawn on the terminal, so leave out --output")
    if said is not None and said not in SUFFIXES:
        raise ValueError(f"--format of shards must be one of {', '.join(SUFFIXES)}, got {said!r}")
    if said == "parquet":
        library()  # without pyarrow it fails, and should before the work
    return OutputFormat(said or "jsonl", weights, nulls)


def make_writable(folder: Path) -> None:
    """Make a folder, or say why not; that it can be written into is found out before the work."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "writable").touch()
        (folder / "writable").unlink()
    except OSError as error:
        raise ValueError(f"cannot write into {folder}: {error.strerror}") from error


def check_output(output: Path | None, inputs: Sequence[str]) -> None:
    """Refuse an output that is one of the inputs, by whatever name.

    Args:
        output: The file to be written, or None for standard output.
        inputs: The files that are read; `-` is standard input.

    Raises:
        ValueError: They are the same file.
    """
    written = _status(1 if output is None else output)
    for name in inputs:
        read = _status(0 if name == STDIN else name)
        if read and written and stat.S_ISREG(read.st_mode) and os.path.samestat(read, written):
            raise ValueError(f"{output or 'standard output'} is an input too; write to another file")


def _status(file: Path | str | int) -> os.stat_result | None:
    try:
        return os.stat(file)
    except OSError:  # there is none, or it is closed
        return None


@contextmanager
def open_output(output: Path | None, inputs: Sequence[str]) -> Iterator[BinaryIO]:
    """Open what a command writes, before its long work, so that it fails at once if it must.

    Args:
        output: A file, compressed as its suffix says, which is replaced when the block ends without an
            error; or None for standard output.
        inputs: The files that are read, none of which may be the output.

    Yields:
        The file to write to.

    Raises:
        ValueError: The output is an input, or cannot be written.
        OSError: It could not be written completely.
    """
    check_output(output, inputs)
    if output is None:
        yield sys.stdout.buffer
        return
    begun = False
    try:
        with _exit_on_termination(), open_atomic(output) as file, compress(file, output.name) as packed:
            begun = True
            yield packed
    except OSError as error:
        if begun:
            raise
        raise ValueError(f"cannot write {output}: {error.strerror}") from error


@contextmanager
def _exit_on_termination() -> Iterator[None]:
    """Let SIGTERM end the program as an interrupt does, so that no temporary file is left behind."""

    def leave(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def alignment_writer(file: BinaryIO, form: str, *, weights: bool, nulls: bool, matrix: bool) -> Put:
    """What puts alignments in their place, one by one."""
    if form == "terminal":
        console = Console(highlight=False)
        return lambda alignment: console.print((grid if matrix else draw)(alignment), "")
    line = OutputFormat(form, weights, nulls).line
    return lambda alignment: write_line(file, line(alignment))


def write_line(file: BinaryIO, line: str) -> None:
    """Write a line; to standard output all of it at once or nothing: signals wait until it is written."""
    data = line.encode() + b"\n"
    if file is not sys.stdout.buffer or not hasattr(signal, "pthread_sigmask"):  # a file, or Windows
        file.write(data)
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        file.write(data)
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
