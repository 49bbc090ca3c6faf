"""The command line: thin commands over the library, which alone print to the terminal."""

import errno
import os
import signal
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any, NoReturn

import typer
from typer.main import get_command

from otalign import __version__
from otalign.atomic import DISK_FULL
from otalign.cli.help import make_app, make_lazy_group
from otalign.cli.terminal import show_language_warnings
from otalign.cli.usage_errors import describe_usage_error
from otalign.failures import ERRNO, explain_os_error

TRAINING = ("torch", "transformers", "accelerate")  # libraries that only training cannot do without

COMMANDS = {  # in the order of the help, which imports none of them
    "align": "Find which words of two sentences correspond.",
    "show": "Draw alignments on the terminal, as a page or as a picture.",
    "diff": "Show what changed between two versions of a text.",
    "project": "Carry labels of source words over to the target.",
    "serve": "Serve an aligner over HTTP, with a page to try it.",
    "evaluate": "Score predictions against gold, and compare systems.",
    "convert": "Convert links from one file format to another.",
    "tune": "Find the settings of an aligner that are best on a dev set.",
    "train": "Train an aligner on gold links.",
    "export": "Export a model to ONNX, to run it without torch.",
    "models": "List the installed models, or print the card of one.",
    "corpus": "List the gold corpora and count what is in them.",
}

app = make_app(add_completion=True, cls=make_lazy_group("otalign.cli", COMMANDS))


UsageError: Any = typer.BadParameter.__base__  # of Click, whichever of the two that Typer uses


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"otalign {__version__}")
        raise typer.Exit


@app.callback()
def otalign(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    """Find which words of two sentences correspond, and which have no counterpart."""


def main() -> None:
    """Run the command line of otalign."""
    run(app, "otalign")


build_command = cache(get_command)  # it inspects all commands, which takes as long as a short one


def run(app: typer.Typer, name: str | None = None) -> None:
    """Run a command. An error that the user can correct is printed as one line, not as a traceback.

    Args:
        app: The commands.
        name: Name of the program in its help, or None for the way it was called.
    """
    show_language_warnings()
    try:
        try:
            _check_arguments(sys.argv[1:])
            sys.exit(build_command(app)(prog_name=name, standalone_mode=False) or 0)
        finally:
            sys.stdout.flush()  # here, and not at the exit, where an error could not be handled
    except BrokenPipeError:  # the reader of our output has seen enough
        _discard_output()
    except UsageError as error:
        if (
            type(error).__name__ == "NoArgsIsHelpError"
        ):  # of a group without a command; its message is its help
            print(error.format_message())
            sys.exit(2)
        _fail(describe_usage_error(error))
    except MemoryError:
        _fail("there is not enough memory; give shorter sentences, a smaller --batch-size or fewer processes")
    except OSError as error:
        # Errors name their files, so one without a name comes from standard output.
        of_stdout = error.filename is None and error.errno in (errno.EBADF, *DISK_FULL)
        _fail(f"cannot write standard output: {error.strerror}" if of_stdout else explain_os_error(error))
    except (ValueError, ImportError) as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # during the import of a library in C++
            sys.exit(128 + signal.SIGINT)
        without = isinstance(error, ModuleNotFoundError) and error.name in TRAINING
        hint = "; training needs it: pip install 'otalign[torch]'" if without else ""
        _fail(f"{error}{hint}")


def _fail(message: str) -> NoReturn:
    _discard_output()
    print(f"otalign: {ERRNO.sub('', message)}", file=sys.stderr)
    sys.exit(2)


def _discard_output() -> None:
    """Discard what could not be written to standard output, so that the exit does not try again."""
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
