"""`otalign corpus`: the gold corpora, and statistics of them."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from otalign.alignment import Level
from otalign.cli.help import add_command, make_app
from otalign.cli.options import AsJson, CorpusName, DataFolder, NoPager
from otalign.cli.terminal import open_pager, show_activity, wrap
from otalign.gold import Gold
from otalign.io import CORPORA, load
from otalign.metrics import count

INDENT = 13 * " "
HEADINGS = {  # of the table, by the names of the JSON output
    "level": "level",
    "pairs": "pairs",
    "words": "words",
    "links": "links",
    "null rate %": "null %",
    "micro %": "micro %",
    "phrase share %": "phrase %",
    "mean length": "mean length",
    "longest": "longest",
    "in train": "in train",
}


def list_corpora(as_json: AsJson = False) -> None:
    """List the corpora, their splits, and where to get them.

    Examples:
        otalign corpus list
    """
    if as_json:
        fields = {
            name: {"title": c.title, "splits": list(c.files), "origin": c.origin}
            for name, c in CORPORA.items()
        }
        print(json.dumps(fields, indent=2, ensure_ascii=False, allow_nan=False))
        return
    for name, corpus in CORPORA.items():
        print(f"{name:13}{corpus.title}: {', '.join(corpus.files)}")
        print(wrap(INDENT + corpus.origin, INDENT))


def stats(
    names: Annotated[
        list[CorpusName],
        typer.Argument(metavar="NAME...", help=f"Corpora to count: any of {', '.join(CORPORA)}."),
    ],
    data: DataFolder = None,
    as_json: AsJson = False,
    no_pager: NoPager = False,
) -> None:
    """Count pairs, words, links, nulls and phrases of corpora.

    There is a row for each split and level. The null rate is the mean over pairs; micro is the rate over
    all words. The phrase share is the share of groups of connected links that have several links. In train
    counts the pairs that are also in the train set, word for word.

    Examples:
        otalign corpus stats mtref wiki --data corpora/
    """
    with show_activity("counting"):
        rows = [row for name in names for row in _rows(name, data)]
    if as_json:
        print(json.dumps(rows, indent=2, ensure_ascii=False, allow_nan=False))
        return
    with open_pager(not no_pager, tables=True) as console:
        console.print(_make_table(rows))


def _rows(name: str, data: Path | None) -> list[dict[str, Any]]:
    splits = {split: load(name, split, data) for split in CORPORA[name].files}
    trained = {(gold.source, gold.target) for gold in splits.get("train", ())}
    rows = []
    for split, golds in splits.items():
        levels: list[Level] = ["sure", "possible"] if any(gold.possible for gold in golds) else ["sure"]
        rows += [_row(name, split, level, golds, trained) for level in levels]
    return rows


def _row(name: str, split: str, level: Level, golds: tuple[Gold, ...], trained: set) -> dict[str, Any]:
    counts = count([gold.alignment(level) for gold in golds], golds, level)
    nulls, lengths = counts.tally("nulls").gold, counts.length
    return {
        "name": name,
        "split": split,
        "level": level,
        "pairs": len(golds),
        "words": int(lengths.sum()),
        "links": int(counts.tally("links").gold.sum()),
        "null rate %": round(100 * float(counts.null_rate.mean()), 2),
        "micro %": round(100 * float(nulls.sum() / lengths.sum()), 2),
        "phrase share %": round(100 * float(counts.phrase_share.mean()), 2),
        "mean length": round(float(lengths.mean()) / 2, 1),
        "longest": max(len(side) for gold in golds for side in (gold.source, gold.target)),
        "in train": sum((g.source, g.target) in trained for g in golds)
        if trained and split != "train"
        else None,
    }


def _make_table(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
    for heading in ("corpus", *HEADINGS.values()):
        # Headings have a line for each word, so that the table fits 80 columns.
        table.add_column(
            heading.replace(" ", "\n"), justify="left" if heading in ("corpus", "level") else "right"
        )
    above = None
    for row in rows:
        if row["name"] != above:
            table.add_row(row["name"])
        above = row["name"]
        table.add_row(f"  {row['split']}", *(_format_cell(row[key]) for key in HEADINGS))
    return table


def _format_cell(value: Any) -> str:
    match value:
        case None:
            return "–"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:.1f}"
    return str(value)


corpus = make_app(help="List the gold corpora and count what is in them.")
add_command(corpus, list_corpora, "list")
add_command(corpus, stats)
