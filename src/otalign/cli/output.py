"""Files and folders that commands write, and alignments as lines or as drawings on a terminal.

Outputs are opened before the work, so that it fails at once if they cannot be written. An old file is
replaced only when the new one is complete.
"""

import os
import signal
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

from otalign.alignment import Alignment
from otalign.atomic import open_atomic
from otalign.io.guessing import SUFFIXES, get_suffix
from otalign.io.lines import STDIN, compress
from otalign.io.parquet import PARQUET, import_pyarrow
from otalign.io.writing import ALIGNMENT_FORMATS, OUTPUT_FORMATS, SHARD_SUFFIXES, OutputFormat

if TYPE_CHECKING:
    from rich.console import Console

    AlignmentFormat = str
else:
    AlignmentFormat = Literal[*OUTPUT_FORMATS, "terminal"]

WITH_LINKS = (*ALIGNMENT_FORMATS, PARQUET)
SUFFIXES_WITH_LINKS = [suffix for suffix, (form, *_) in SUFFIXES.items() if form in WITH_LINKS]
DRAWN = (".html", ".pdf", ".png", ".svg")  # suffixes of files that `otalign show` writes


def choose_format(format: str | None, output: Path | None, matrix: bool) -> str:
    """Return the format of the output, as given or as suits the output; a matrix can only be drawn."""
    if matrix and (format or "terminal") == "terminal" and output is None:
        return "terminal"
    if matrix:
        raise ValueError("--matrix is drawn on the terminal; remove --format and --output")
    if output is None:
        if format in (PARQUET, "jsonl.gz"):
            raise ValueError(f"--format {format} is written to a file or a folder; give --output")
        return format or ("terminal" if sys.stdout.isatty() else "pharaoh")
    if format == "terminal":
        raise ValueError("--format terminal draws on a terminal; remove --output or choose another format")
    if format == "jsonl.gz" and not output.name.endswith(".gz"):
        raise ValueError(f"--format jsonl.gz is for names that end in .gz, got {output}; choose jsonl")
    if output.suffix.lower() in DRAWN:
        raise ValueError(
            f"{output} would be a drawing; write a file such as links.jsonl, and draw that with otalign show"
        )
    chosen = choose_by_suffix(output, format and format.removesuffix(".gz"), "--format") or "pharaoh"
    if chosen not in WITH_LINKS:
        raise ValueError(
            f"links cannot be written as {chosen}, which the name {output} stands for; choose another name "
            f"or --format: {', '.join(WITH_LINKS)}"
        )
    if chosen == PARQUET:
        if get_suffix(output) != ".parquet":
            raise ValueError(f"--format parquet is for names that end in .parquet, or a folder, got {output}")
        import_pyarrow(path=output)  # without pyarrow it fails, and should before the work
    return chosen


def choose_by_suffix(output: Path, format: str | None, option: str) -> str | None:
    """Return the format of a file to write, as given or as its suffix says.

    Args:
        output: The file.
        format: The format that an option gives, or None.
        option: The option.

    Returns:
        The format; None if it is not given, and the suffix stands for none.

    Raises:
        ValueError: The suffix stands for other formats than the one that is given.
    """
    formats = SUFFIXES.get(get_suffix(output))
    if formats is None:
        return format
    if format is not None and format not in formats:
        raise ValueError(
            f"{option} {format} does not suit {output}, whose name stands for {' or '.join(formats)}; "
            f"choose another name, or remove {option}"
        )
    return format or formats[0]


def choose_shard_format(
    format: str | None, matrix: bool, *, weights: bool, nulls: bool, phrases: bool
) -> OutputFormat:
    """Return the format of the files in a folder; jsonl, which holds everything, unless another is given."""
    if matrix:
        raise ValueError("--matrix is drawn on the terminal; remove --output")
    if format is not None and format not in SHARD_SUFFIXES:
        raise ValueError(f"--format must be one of {', '.join(SHARD_SUFFIXES)} for a folder, got {format!r}")
    if format == "parquet":
        import_pyarrow()  # without pyarrow it fails, and should before the work
    return OutputFormat(format or "jsonl", weights, nulls, phrases)


def make_writable(folder: Path) -> None:
    """Make a folder if there is none, and check that files can be written into it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "writable").touch()
        (folder / "writable").unlink()
    except OSError as error:
        raise ValueError(f"cannot write into {folder}: {error.strerror}") from error


def check_output(output: Path | None, inputs: Sequence[str]) -> None:
    """Check that the folder of an output exists, and that it is not one of the inputs under another name.

    Args:
        output: The file to be written, or None for standard output.
        inputs: The files that are read; `-` is standard input.

    Raises:
        ValueError: There is no such folder, the output is a folder itself, or they are the same file.
    """
    if output and output.is_dir():
        raise ValueError(f"cannot write {output}: it is a folder; give a file")
    if output and not output.parent.is_dir():
        raise ValueError(f"cannot write {output}: there is no folder {output.parent}; make it first")
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
    """Open what a command writes, before its long work, so that errors appear before the work.

    Args:
        output: A file, compressed as its suffix says, which is replaced when the block ends without an
            error; None or `-` for standard output.
        inputs: The files that are read, none of which may be the output.

    Yields:
        The file to write to.

    Raises:
        ValueError: The output is an input, or cannot be written.
        OSError: It could not be written completely.
    """
    output = None if str(output) == STDIN else output
    check_output(output, inputs)
    if output is None:
        yield sys.stdout.buffer
        return
    opened = False
    try:
        with _exit_on_termination(), open_atomic(output) as file, compress(file, output.name) as compressed:
            opened = True
            yield compressed
    except OSError as error:
        if opened:
            raise
        raise ValueError(f"cannot write {output}: {(error.strerror or str(error)).lower()}") from error


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


def write_alignments(alignments: Iterable[Alignment], file: BinaryIO, form: OutputFormat) -> None:
    """Write alignments in a format, each as soon as it is there."""
    if form.name == PARQUET:
        form.write(alignments, file)
        return
    for number, alignment in enumerate(alignments, 1):
        write_text(file, form.format_alignment(alignment, number))


def draw_alignments(
    alignments: Iterable[tuple[int | None, Alignment, str, str]], console: "Console", *, matrix: bool = False
) -> None:
    """Draw alignments on the terminal, after a legend and set apart by rules.

    Args:
        alignments: For each, its number or None for no rule, the alignment, a note for the rule, and lines to
            print below it.
        console: The console to print to.
        matrix: Whether to draw matrices.
    """
    from rich.text import Text

    from otalign.render.matrix import LEGEND as MATRIX_LEGEND
    from otalign.render.matrix import matrix as grid
    from otalign.render.terminal import LEGEND, draw, draw_legend, draw_rule

    legend = draw_legend(console.width, MATRIX_LEGEND if matrix else LEGEND)
    for number, alignment, note, below in alignments:
        if legend:  # not before the first can be read
            console.print(legend, soft_wrap=True)
            legend = None
        console.print("" if number is None else draw_rule(number, note, console.width))
        console.print((grid if matrix else draw)(alignment))
        if below:
            console.print(Text(below))


def write_text(file: BinaryIO, text: str) -> None:
    """Write whole lines; to standard output all at once or not at all: signals wait until it is done."""
    data = text.encode()
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
def open_work_folder(folder: Path, name: str) -> Iterator[Path]:
    """Make a new folder, and inside it one for the work that leads to it.

    Args:
        folder: The folder to make. It may exist if it is empty, or if it holds unfinished work.
        name: Name of the folder for the work. If nothing is in it when an error ends the block, both are
            removed.

    Yields:
        The folder for the work.

    Raises:
        ValueError: The folder holds something else, or cannot be written.
    """
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file; give a new folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / name).is_dir():
        raise ValueError(f"{folder} already exists and is not empty; give a new folder")
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
