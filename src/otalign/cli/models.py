"""`otalign models`: the installed models, with their scores and their cards."""

import json
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.table import Table

from otalign import models as installed
from otalign.alignment import LEVELS
from otalign.cli.options import AsJson, NoPager, complete_model
from otalign.cli.terminal import open_pager, show_activity, wrap
from otalign.failures import describe
from otalign.models import InstalledModel, Measurements, ModelCard


class ModelReport(NamedTuple):
    """An installed model with the facts of its card, or with an error."""

    model: InstalledModel
    card: ModelCard | None
    error: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return the report as values that JSON can hold."""
        model = self.model
        found = {"name": model.name, "package": model.package, "version": model.version}
        found |= {"folder": str(model.folder) if model.folder else None, "error": self.error}
        return found | (self.card.to_dict() if self.card else {})


def models(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="Model whose card to print.",
            show_default=False,
            autocompletion=complete_model,
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Compare the digests of all files with those that were recorded."),
    ] = False,
    as_json: AsJson = False,
    no_pager: NoPager = False,
) -> None:
    """List the installed models, or print the card of one.

    Each has its size, languages, licence, package and training data, and its F1 on test sets. The first is
    the default of every command; --model takes any of them by name. Other packages may provide models. With
    --check, the exit status is 1 if a file of a model was changed or is missing.

    Examples:
        otalign models
        otalign models small
        otalign models --check
    """
    chosen = installed.list_models() if name is None else [installed.find_model(name)]
    if name is not None and not check and not as_json:
        card = (_get_folder(chosen[0]) / installed.CARD).read_text(encoding="utf-8")
        with open_pager(not no_pager) as console:
            console.print(card, end="", markup=False, emoji=False, soft_wrap=True)
        return
    with show_activity("checking"):
        reports = [_report(model, check) for model in chosen]
    if as_json:
        print(json.dumps([one.to_dict() for one in reports], indent=2, ensure_ascii=False, allow_nan=False))
    elif check:
        for model, card, error in reports:
            count = len(card.measured.digests) if card else 0
            print(f"{model.name}: {error or f'{count} files match their digests'}")
    else:
        with open_pager(not no_pager, tables=True) as console:
            for one in reports:
                _show(one, console)
    if check and any(one.error for one in reports):
        raise typer.Exit(1)


def _get_folder(model: InstalledModel) -> Path:
    assert model.folder is not None, "a model without an error has a folder"
    return model.folder


def _report(model: InstalledModel, check: bool) -> ModelReport:
    """Read the facts of a model, and compare its digests if that is asked for."""
    if model.error:
        return ModelReport(model, None, model.error)
    try:
        card = ModelCard.read(_get_folder(model))
        if check:
            installed.check_digests(_get_folder(model), model.package)
    except (ValueError, OSError) as error:
        return ModelReport(model, None, describe(error, brief=True))
    return ModelReport(model, card, None)


def _show(report: ModelReport, console: Console) -> None:
    model, card, error = report
    if card is None:
        console.print(f"{model.name}: from {model.origin}, cannot be used: {error}", markup=False)
        return
    facts = (f"{card.bytes / 1e6:.1f} MB", *card.languages, card.licence, f"from {model.origin}")
    console.print(wrap(f"{model.name}: {', '.join(fact for fact in facts if fact)}"), markup=False)
    training = f", trained on {card.trained}" if card.trained else ""
    console.print(wrap(f"{card.encoder} up to layer {card.layer}{training}"), markup=False)
    if card.measured.mean is not None:
        console.print(f"test F1 as it is, mean {100 * card.measured.mean:.1f}")
        console.print(_make_table(card.measured))


def _make_table(measured: Measurements) -> Table:
    """Return a table with a column for each test set and a row for each level of links."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("--links")
    for name in measured.test_sets:
        table.add_column(name, justify="right")
    for level in LEVELS:
        found = (f1.get(level) for f1 in measured.test_sets.values())
        table.add_row(level, *("" if f1 is None else f"{100 * f1:.1f}" for f1 in found))
    return table
