"""The command line: thin shells over the library, which alone own the terminal."""

import errno
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

import typer

from otalign import __version__
from otalign.atomic import DISK_FULL
from otalign.cli.align import align
from otalign.cli.convert import convert
from otalign.cli.corpus import corpora
from otalign.cli.diff import diff
from otalign.cli.evaluate import evaluate
from otalign.cli.export import export
from otalign.cli.models import models
from otalign.cli.project import project
from otalign.cli.serve import serve
from otalign.cli.show import show
from otalign.cli.train import train
from otalign.cli.tune import tune

app = typer.Typer(
    no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False
)
TRAINING = ("torch", "transformers", "accelerate")  # libraries that only training cannot do without

app.command()(align)
app.command()(show)
app.command()(diff)
app.command()(project)
app.command()(serve)
app.command()(evaluate)
app.command()(convert)
app.command()(tune)
app.command()(train)
app.command()(export)
app.command()(models)
app.add_typer(corpora, name="corpus")


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"otalign {__version__}")
        raise typer.Exit


@app.callback()
def otalign(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show it and stop."
    ),
) -> None:
    """Word alignment between two sentences, with the words that have no counterpart."""


def main() -> None:
    """Run the command line of otalign."""
    run(app)


def run(app: typer.Typer) -> None:
    """Run a command. An error that the user can correct is printed as one line, not as a traceback."""
    try:
        try:
            _check_arguments(sys.argv[1:])
            app()
        finally:
            sys.stdout.flush()  # here, and not at the exit, where an error could not be handled
    except BrokenPipeError:  # the reader of our output has seen enough
        _discard_output()
    except MemoryError:
        _fail("there is not enough memory; give shorter sentences, a smaller --batch-size or fewer processes")
    except OSError as error:
        # Files are named by their errors, so one without a name is of standard output.
        of_stdout = error.filename is None and error.errno in (errno.EBADF, *DISK_FULL)
        _fail(f"cannot write standard output: {error.strerror}" if of_stdout else str(error))
    except (ValueError, ImportError) as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # which met the import of a library in C++
            sys.exit(128 + signal.SIGINT)
        without = isinstance(error, ModuleNotFoundError) and error.name in TRAINING
        hint = "; training needs it: pip install 'otalign[torch]'" if without else ""
        _fail(f"{error}{hint}")


def _fail(message: str) -> NoReturn:
    _discard_output()
    print(f"otalign: {message}", file=sys.stderr)
    sys.exit(2)


def _discard_output() -> None:
    """Forget what standard output could not take, lest it be tried again at the exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _check_arguments(arguments: Sequence[str]) -> None:
    for number, argument in enumerate(arguments, 1):
        try:
            argument.encode()
        except UnicodeEncodeError as error:
            byte = os.fsencode(argument)[len(argument[: error.start].encode())]
            raise ValueError(
                f"argument {number} must be UTF-8, got byte 0x{byte:02x}; rename the file, or give it by -"
            ) from None
