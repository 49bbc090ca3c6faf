"""`otalign models`: the aligners that come with the package, and their scores."""

from typing import Annotated

import typer
from rich.table import Table

from otalign import models as shipped
from otalign.aligner import load_settings
from otalign.alignment import LEVELS
from otalign.cli.terminal import make_console


def models(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Aligner whose card to print.", show_default=False),
    ] = None,
) -> None:
    """List the aligners that come with the package.

    Each has its size, its training data, and its F1 on test sets. The first is the default of every command;
    --model takes the others by name.

    Examples:
        otalign models
        otalign models small
    """
    if name is not None:
        print((shipped.folder(name) / shipped.CARD).read_text(encoding="utf-8"), end="")
        return
    for one in shipped.names():
        folder = shipped.folder(one)
        settings, measured = load_settings(folder), shipped.Measured.read(folder)
        assert settings is not None
        size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
        print(f"{one}: {size:.1f} MB, {settings.encoder} up to layer {settings.layer}, {folder}")
        print(f"trained on {settings.trained}")
        print(f"test F1 as it is, mean {100 * measured.mean:.1f}")
        make_console().print(_make_table(measured))


def _make_table(measured: shipped.Measured) -> Table:
    """Return a table with a column for each corpus and a row for each level of links."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("--links")
    for corpus in dict.fromkeys(column.split()[0] for column in measured.f1):
        table.add_column(corpus, justify="right")
    for level in LEVELS:
        found = (measured.f1.get(f"{column.header} {level}") for column in table.columns[1:])
        table.add_row(level, *("" if f1 is None else f"{100 * f1:.1f}" for f1 in found))
    return table
