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
from experiments.unsupervised.rows import APPENDIX_NAMES
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
    texts = {"md": format_markdown(study), "csv": format_csv(study), "json": format_json(study)}
    return table_format.write_tables(folder, "table", texts)


def format_markdown(study: Study) -> str:
    """Format the tables as Markdown."""
    rows = study.list_rows()
    main, others = ([row for row in rows if (row.name in APPENDIX_NAMES) == later] for later in (False, True))
    limit = study.data.source.limit
    parts = [
        "# Unsupervised alignment",
        _describe_study(study),
        *([f"**The study used only the first {limit} pairs of each split.**"] if limit else []),
        f"## F1\nThe paper's figures, with {paper.ENCODER}, are in italics; the best of a column is bold.",
        _format_table(study, main, MEASURES["F1"], with_paper=True),
    ]
    parts += [
        f"## {name}\n\n{_format_table(study, main, MEASURES[name])}" for name in ("Precision", "Recall")
    ]
    if others:
        parts.append(
            "## Costs and fertilities\nWithout a name, the cost is cosine and the fertility uniform."
        )
        both = [
            row for row in main if row.name in paper.F1 and row.embeds and row.name != "simalign"
        ] + others
        parts += [f"### {name}\n\n{_format_table(study, both, value)}" for name, value in MEASURES.items()]
    return "\n\n".join(parts) + "\n"


def _describe_study(study: Study) -> str:
    text = "Figures are percentages with nulls counted; Newsela and arXiv are tuned on the dev set of MTRef."
    if study.chosen:
        layer, pairing = study.chosen.choice
        how = "the best on the dev sets" if study.chosen.tried else "as given"
        name = study.data.encoder.name
        text += f" Encoder {name}, layer {layer}, {pairing} encoding ({how})."
    return f"{text} otalign {otalign.__version__}; signatures are in table.json."


def _format_table(study: Study, rows: Sequence[System], value: Value, with_paper: bool = False) -> str:
    cells = {row.name: [study.find_cell(row, column) for column in COLUMNS] for row in rows}
    figures = {
        name: [100 * value(cell.test) if cell else None for cell in row] for name, row in cells.items()
    }
    best, lines = table_format.find_best(figures.values()), []
    for row in rows:
        values = figures[row.name]
        shown = [table_format.format_figure(value, top) for value, top in zip(values, best, strict=True)]
        lines.append((row.title, [*shown, table_format.format_figure(table_format.compute_mean(values))]))
        if with_paper and row.name in paper.F1:
            lines.append(("_paper_", table_format.format_italics(paper.F1[row.name])))
    return table_format.format_table([*(column.heading for column in COLUMNS), "mean"], lines)


def format_csv(study: Study) -> str:
    """Format a line of CSV for each cell."""
    text = io.StringIO()
    header = (
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
    writer.writerow(header)
    for row in study.list_rows():
        theirs = paper.F1.get(row.name, (None,) * len(COLUMNS))
        for column, paper_f1 in zip(COLUMNS, theirs, strict=True):
            cell = study.find_cell(row, column)
            if cell:
                test = cell.test
                shares = (test.precision, test.recall, test.f1, cell.dev and cell.dev.f1)
                shown = [None if share is None else f"{100 * share:.2f}" for share in shares]
                names = (row.name, row.title, column.corpus, column.level)
                writer.writerow([*names, *shown, paper_f1, cell.signature])
    return text.getvalue()


def format_json(study: Study) -> str:
    """Format all cells and a description of the study as JSON."""
    rows = []
    for row in study.list_rows():
        cells = [study.find_cell(row, column) for column in COLUMNS]
        found: dict[str, Any] = {"row": row.name, "title": row.title, "main": row.name not in APPENDIX_NAMES}
        found["paper_f1"] = dict(zip((c.key for c in COLUMNS), paper.F1.get(row.name, ()), strict=False))
        rows.append(found | {"cells": [_describe_cell(cell) for cell in cells if cell]})
    source = study.data.source
    about = {
        "version": otalign.__version__,
        "encoder": study.data.encoder.name if study.chosen else None,
        "chosen": study.chosen and study.chosen.to_dict(),
        "limit": source.limit,
        "columns": [{"corpus": c.corpus, "level": c.level, "tuned_on": c.dev} for c in COLUMNS],
    }
    return json.dumps(about | {"rows": rows}, indent=2, allow_nan=False) + "\n"


def _describe_cell(cell: Cell) -> dict[str, Any]:
    return {key: value for key, value in cell.to_dict().items() if key not in ("row", "key")}
