"""What the user says of input files, the same for every command that reads them."""

import inspect
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from otalign.io import ReaderLimits
from otalign.io.lines import STDIN

HELP = {
    "max_line_bytes": "Bytes of an input line; a longer one is a bad line.",
    "max_words": "Words of an input sentence, likewise; 4,000 on both sides take 1 GB of memory.",
    "max_characters": "Characters of an input sentence, likewise.",
}


def check_input(name: str) -> bool:
    """Check that an input can be read.

    Args:
        name: The path of a file, a FIFO or a device, or `-` for standard input.

    Returns:
        Whether it can be read more than once.

    Raises:
        ValueError: There is no such file, it is a folder, or standard input is closed.
    """
    if name == STDIN:
        if sys.stdin is None:
            raise ValueError("standard input is closed; give a file, or open it")
        return False
    if Path(name).is_dir():
        raise ValueError(f"{name} is a folder; give a file")
    if not Path(name).exists():
        raise ValueError(f"there is no file {name}")
    return Path(name).is_file()


def with_limits(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command options for the limits of the readers, instead of its parameter `limits`."""

    @wraps(command)
    def run(**given: Any) -> None:
        command(limits=ReaderLimits(**{name: given.pop(name) for name in HELP}), **given)

    own = [part for part in inspect.signature(command).parameters.values() if part.name != "limits"]
    options = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=getattr(ReaderLimits, name),
            annotation=Annotated[int, typer.Option(min=1, help=text)],
        )
        for name, text in HELP.items()
    ]
    parameters = [part.replace(kind=part.KEYWORD_ONLY) for part in own] + options
    run.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]
    run.__annotations__ = {part.name: part.annotation for part in parameters}
    return run
