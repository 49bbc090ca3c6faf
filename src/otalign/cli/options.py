"""Options that several commands share."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from otalign.alignment import Level
from otalign.cli.panels import HARDWARE, INPUT, MODEL, OUTPUT
from otalign.io import CORPORA, FORMATS, ReaderLimits
from otalign.io.parquet import PARQUET
from otalign.models import list_models

if TYPE_CHECKING:
    CorpusName = FormatName = str
else:
    FormatName = Literal[(*FORMATS, PARQUET)]
    CorpusName = StrEnum("CorpusName", {name: name for name in CORPORA})  # Typer has no lists of literals
SplitName = Literal["train", "dev", "test"]
GUESSED = "guessed from the name or the content"


def describe_formats(names: Iterable[str]) -> str:
    """Return the names of formats with their descriptions, for the help of a command."""
    return ", ".join(f"{name} ({FORMATS[name].description})" for name in names)


def complete_corpus(incomplete: str) -> list[str]:
    """Return the corpora whose names begin as typed, for the completion of the shell."""
    return [name for name in CORPORA if name.startswith(incomplete)]


def complete_model(incomplete: str) -> list[str]:
    """Return the installed models whose names begin as typed, for the completion of the shell."""
    return [model.name for model in list_models() if not model.error and model.name.startswith(incomplete)]


LinksFormat = Annotated[
    FormatName | None,
    typer.Option(
        "--from",
        metavar="FORMAT",
        help=f"Format of the links: one of {', '.join(FORMATS)}, {PARQUET}; otalign convert --help describes "
        "them.",
        show_default=GUESSED,
        rich_help_panel=INPUT,
    ),
]
FormerFormat = Annotated[
    FormatName | None,
    typer.Option("--format", hidden=True, help="Former name of --from.", rich_help_panel=INPUT),
]

DataFolder = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="FOLDER",
        envvar="OTALIGN_DATA",
        help="Folder of the gold corpora.",
        rich_help_panel=INPUT,
    ),
]
Split = Annotated[SplitName, typer.Option(help="Split of a corpus given by name.", rich_help_panel=INPUT)]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON instead of a table.", rich_help_panel=OUTPUT)
]
GoldLevel = Annotated[
    Level,
    typer.Option(
        "--level", help="Gold links that count: sure ones, or all possible ones.", rich_help_panel=INPUT
    ),
]
GoldFormat = Annotated[
    FormatName | None,
    typer.Option(
        metavar="FORMAT", help="Format of the gold file.", show_default=GUESSED, rich_help_panel=INPUT
    ),
]
WordsFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--words",
        metavar="FILE",
        help="File with the words, if there are links alone; give it twice for two files.",
        rich_help_panel=INPUT,
    ),
]
WordsFormat = Annotated[
    FormatName | None,
    typer.Option(
        "--words-from",
        metavar="FORMAT",
        help="Format of the file with the words.",
        show_default=f"parallel for two files, else {GUESSED}",
        rich_help_panel=INPUT,
    ),
]
Matrix = Annotated[
    bool, typer.Option("--matrix", help="Draw a grid of all word pairs.", rich_help_panel=OUTPUT)
]
NoPager = Annotated[
    bool,
    typer.Option("--no-pager", help="Do not send long output to a pager.", rich_help_panel=OUTPUT),
]
Layer = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Encoder layer to use; 0 is the embedding layer.",
        show_default="chosen for the encoder",
        rich_help_panel=MODEL,
    ),
]
Device = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Device of the encoder: cpu, cuda, cuda:1 or mps.",
        show_default="the best available",
        rich_help_panel=HARDWARE,
    ),
]
BatchSize = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Number of subwords that the encoder reads at once.",
        show_default="depends on the device",
        rich_help_panel=HARDWARE,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="Number of CPU threads.", show_default="all cores", rich_help_panel=HARDWARE
    ),
]
LIMIT_HELP = {
    "max_line_bytes": "Largest line of the input, in bytes.",
    "max_words": "Longest sentence, in words; 4,000 on both sides take up to 1 GB of memory.",
    "max_characters": "Longest sentence, in characters.",
}


def expand_parameter(
    command: Callable[..., None], name: str, options: Sequence[inspect.Parameter], build: Callable[..., Any]
) -> Callable[..., None]:
    """Give a command several options in place of one parameter.

    Args:
        command: The command.
        name: The parameter.
        options: The options that replace it.
        build: Builds the value of the parameter from those of the options.

    Returns:
        A command with the options, for Typer.
    """

    @wraps(command)
    def run(**given: Any) -> None:
        value = build(**{option.name: given.pop(option.name) for option in options})
        command(**{name: value}, **given)

    own = [part for part in inspect.signature(command).parameters.values() if part.name != name]
    parameters = [part.replace(kind=part.KEYWORD_ONLY) for part in (*own, *options)]
    run.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]
    run.__annotations__ = {part.name: part.annotation for part in parameters}
    return run


def with_limits(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command options for the limits of the readers, instead of its parameter `limits`."""
    options = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=getattr(ReaderLimits, name),
            annotation=Annotated[int, typer.Option(min=1, metavar="N", help=text, rich_help_panel=INPUT)],
        )
        for name, text in LIMIT_HELP.items()
    ]
    return expand_parameter(command, "limits", options, ReaderLimits)
