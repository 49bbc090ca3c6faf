"""The tables of the unsupervised study, in Markdown, CSV, and JSON with signatures."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import otalign
from experiments import paper, table_format
from experiments.columns import COLUMNS
from experiments.unsupervised.cells import Cell
from experiments.unsupervised.rows import APPENDED
from experiments.unsupervised.run import Study
from experiments.unsupervised.system import Figures, System

Value = Callable[[Figures], float]
MEASURES: dict[str, Value] = {
    "F1": lambda figures: figures.f1,
    "Precision": lambda figures: figures.precision,
    "Recall": lambda figures: figures.recall,
}


def write(study: Study, folder: Path) -> list[Path]:
    """Write table.md, table.csv and table.json with all finished cells; return the files."""
    texts = {"md": markdown(study), "csv": write_csv(study), "json": as_json(study)}
    return table_format.written(folder, "table", texts)


def markdown(study: Study) -> str:
    rows = study.rows()
    main, others = ([row for row in rows if (row.name in APPENDED) == later] for later in (False, True))
    limit = study.material.source.limit
    parts = [
        "# Unsupervised alignment",
        _about(study),
        *([f"**Of every split only the first {limit} pairs were taken.**"] if limit else []),
        f"## F1\nIn italics what the paper reports, with {paper.ENCODER}. The best of each column is bold.",
        _table(study, main, MEASURES["F1"], with_paper=True),
    ]
    parts += [f"## {name}\n\n{_table(study, main, MEASURES[name])}" for name in ("Precision", "Recall")]
    if others:
        parts.append("## Every cost and fertility\nWhat no row says is cosine cost and uniform fertility.")
        both = [
            row for row in main if row.name in paper.F1 and row.embeds and row.name != "simalign"
        ] + others
        parts += [f"### {name}\n\n{_table(study, both, value)}" for name, value in MEASURES.items()]
    return "\n\n".join(parts) + "\n"


def _about(study: Study) -> str:
    text = "In percent, links and nulls counted alike; tuned on dev sets alone, Newsela and arXiv on MTRef's."
    if study.chosen:
        layer, pairing = study.chosen.choice
        how = "the best on the dev sets" if study.chosen.tried else "as given"
        name = study.material.encoder.name
        text += f" Encoder {name}, layer {layer}, {pairing} encoding ({how})."
    return f"{text} otalign {otalign.__version__}; signatures are in table.json."


def _table(study: Study, rows: Sequence[System], value: Value, with_paper: bool = False) -> str:
    cells = {row.name: [study.cell(row, column) for column in COLUMNS] for row in rows}
    figures = {
        name: [100 * value(cell.test) if cell else None for cell in row] for name, row in cells.items()
    }
    best, lines = table_format.best(figures.values()), []
    for row in rows:
        values = figures[row.name]
        shown = [table_format.shown(value, top) for value, top in zip(values, best, strict=True)]
        lines.append((row.title, [*shown, table_format.shown(table_format.mean_of_all(values))]))
        if with_paper and row.name in paper.F1:
            lines.append(("_paper_", table_format.in_italics(paper.F1[row.name])))
    return table_format.table([*(column.heading for column in COLUMNS), "mean"], lines)


def write_csv(study: Study) -> str:
    """Return a line for each cell."""
    text = io.StringIO()
    names = (
        "row",
        "title",
        "corpus",
        "level",
        "precision",
        "recall",
        "f1",
        "dev_f1",
        "paper_f1",
        "signature",
    )
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for row in study.rows():
        theirs = paper.F1.get(row.name, (None,) * len(COLUMNS))
        for column, paper_f1 in zip(COLUMNS, theirs, strict=True):
            cell = study.cell(row, column)
            if cell:
                test = cell.test
                shares = (test.precision, test.recall, test.f1, cell.dev and cell.dev.f1)
                shown = [None if share is None else f"{100 * share:.2f}" for share in shares]
                place = (row.name, row.title, column.corpus, column.level)
                writer.writerow([*place, *shown, paper_f1, cell.signature])
    return text.getvalue()


def as_json(study: Study) -> str:
    rows = []
    for row in study.rows():
        cells = [study.cell(row, column) for column in COLUMNS]
        found: dict[str, Any] = {"row": row.name, "title": row.title, "main": row.name not in APPENDED}
        found["paper_f1"] = dict(zip((c.key for c in COLUMNS), paper.F1.get(row.name, ()), strict=False))
        rows.append(found | {"cells": [_describe_cell(cell) for cell in cells if cell]})
    source = study.material.source
    about = {
        "version": otalign.__version__,
        "encoder": study.material.encoder.name if study.chosen else None,
        "chosen": study.chosen and study.chosen.to_dict(),
        "limit": source.limit,
        "columns": [{"corpus": c.corpus, "level": c.level, "tuned_on": c.dev} for c in COLUMNS],
    }
    return json.dumps(about | {"rows": rows}, indent=2, allow_nan=False) + "\n"


def _describe_cell(cell: Cell) -> dict[str, Any]:
    return {key: value for key, value in cell.to_dict().items() if key not in ("row", "key")}
