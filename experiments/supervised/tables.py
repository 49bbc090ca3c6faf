"""The tables of the supervised study, in Markdown, CSV and JSON."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import mean, stdev

import otalign
from experiments import paper, table_format
from experiments.columns import COLUMNS, dev_levels
from experiments.supervised.figures import collect_reliability
from experiments.supervised.results import Result
from experiments.supervised.rows import ROWS, UNION, SupervisedRow
from experiments.supervised.study import Supervised
from experiments.supervised.training import RELIED_ON

Figures = dict[int, dict[str, float]]  # in percent, by seed and by the key of a column
DEV_COLUMNS = {f"{c.dev} {c.level}": c.heading for c in COLUMNS if c.dev == c.corpus}
TEST_COLUMNS = {column.key: column.heading for column in COLUMNS}


def write(study: Supervised, folder: Path) -> list[Path]:
    """Write supervised.md, .csv and .json with all finished results; return the files."""
    texts = {"md": markdown(study), "csv": write_csv(study), "json": as_json(study)}
    return table_format.written(folder, "supervised", texts)


def markdown(study: Supervised) -> str:
    rows = study.rows()
    main, limit = [row for row in rows if row.tested], study.ground.source.limit
    ablated = [row for row in rows if not row.tested]
    parts = ["# Supervised alignment", _about(study)]
    if limit:
        parts.append(f"**Of every split only the first {limit} pairs were taken.**")
    if main:
        parts += [
            f"## F1\nIn italics the paper's figures, with {paper.ENCODER}. The best of each column is bold.",
            _table(main, lambda row: _collect_test(study, row, "f1"), TEST_COLUMNS, with_paper=True),
        ]
        for name in ("Precision", "Recall"):
            table = _table(main, lambda row, name=name: _collect_test(study, row, name.lower()), TEST_COLUMNS)
            parts.append(f"## {name}\n\n{table}")
        tuned = _table([row for row in main if row.tuned], lambda row: _collect_dev(study, row), DEV_COLUMNS)
        parts.append(f"## F1 on the dev sets\n\n{tuned}")
        parts.append(f"## What was chosen\nWith the first seed, on the dev set.\n\n{_choices(study, main)}")
    if ablated:
        rest = [ROWS[UNION], *ablated]
        table = _table(rest, lambda row: _collect_dev(study, row), DEV_COLUMNS)
        parts.append(f"## With one thing changed\nF1 on the dev sets; no test set was looked at.\n\n{table}")
    if any(study.of_row(ROWS[UNION])):
        parts.append(_errors(study))
    return "\n\n".join(parts) + "\n"


def _about(study: Supervised) -> str:
    ground = study.ground
    return (
        "In percent, links and nulls counted alike; the mean over seeds ± the standard deviation. Trained "
        "and chosen on train and dev sets alone, for Newsela and arXiv on MTRef's. "
        f"Encoder {ground.encoder}, {ground.precision}. otalign {otalign.__version__}; "
        "signatures are in supervised.json."
    )


def _collect_test(study: Supervised, row: SupervisedRow, measure: str) -> Figures:
    found: Figures = {}
    for one in study.of_row(row):
        figures = {key: 100 * of[measure] for key, of in one.test.items()}
        found.setdefault(one.place.seed, {}).update(figures)
    return found


def _collect_dev(study: Supervised, row: SupervisedRow) -> Figures:
    found: Figures = {}
    for one in study.of_row(row):
        for corpus, levels in one.dev.items():
            figures = {f"{corpus} {level}": 100 * score["f1"] for level, score in levels.items()}
            found.setdefault(one.place.seed, {}).update(figures)
    return found


def _table(
    rows: Sequence[SupervisedRow],
    figures: Callable[[SupervisedRow], Figures],
    columns: dict[str, str],
    with_paper: bool = False,
) -> str:
    of_rows = {row.name: _spreads(figures(row), columns) for row in rows}
    best = table_format.best([[middle for middle, _ in of] for of in of_rows.values()])
    lines: list[tuple[str, Sequence[str]]] = []
    if with_paper:
        others = {name: title for name, title in paper.PEERS.items() if name not in of_rows}
        lines += [
            (f"_{title}_", [*table_format.in_italics(paper.SUPERVISED[name]), ""])
            for name, title in others.items()
        ]
    for row in rows:
        shown = [
            table_format.shown(middle, top, off)
            for (middle, off), top in zip(of_rows[row.name], best, strict=True)
        ]
        lines.append((row.title, [*shown, str(len(figures(row)))]))
        if with_paper and row.name in paper.SUPERVISED:
            lines.append(("_paper_", [*table_format.in_italics(paper.SUPERVISED[row.name]), ""]))
    return table_format.table([*columns.values(), "mean", "seeds"], lines)


def _spreads(figures: Figures, columns: Iterable[str]) -> list[tuple[float | None, float | None]]:
    """Return mean and standard deviation of each column over its seeds, and of the mean of all columns."""
    of_columns = [[of[key] for of in figures.values() if key in of] for key in columns]
    means = (table_format.mean_of_all([of.get(key) for key in columns]) for of in figures.values())
    of_columns.append([one for one in means if one is not None])
    return [(mean(of) if of else None, stdev(of) if len(of) > 1 else None) for of in of_columns]


def _choices(study: Supervised, rows: Sequence[SupervisedRow]) -> str:
    """Return the table of problems and learning rates chosen for each dev set and level."""
    lines = []
    for row in rows:
        firsts = {" ".join(one.place[1:3]): one for one in study.of_row(row) if one.place.seed == 1}
        if row.by_level and firsts:
            lines.append((row.title, [_choice(row, firsts.get(key)) for key in DEV_COLUMNS]))
    return table_format.table(DEV_COLUMNS.values(), lines) if lines else "Nothing."


def _choice(row: SupervisedRow, first: Result | None) -> str:
    if first is None:
        return table_format.MISSING
    problem, rate = row.tries[first.chosen]
    parameters = {} if isinstance(problem, str) else vars(problem)  # a peer has none
    values = ", ".join(f"{value:g}" for value in parameters.values() if isinstance(value, float))
    return f"{values.split(', ')[0]}, {rate:g}" if values else f"{rate:g}"


def _errors(study: Supervised) -> str:
    """Return the table of expected calibration errors of the models of all corpora, mean over seeds."""
    lines = []
    for level in dev_levels(RELIED_ON):
        kinds = ("links", "all cells", "nulls")
        errors = [[100 * one.error for one in collect_reliability(study, level, what)] for what in kinds]
        lines.append((level.upper(), [f"{mean(of):.2f}" if of else table_format.MISSING for of in errors]))
    return (
        f"## Calibration\nThe expected calibration error in percent of {ROWS[UNION].title}, on the "
        f"{RELIED_ON} test set: of links that have a probability of 1% or more, of all, and of nulls.\n\n"
        + table_format.table(("links", "all word pairs", "nulls"), lines)
    )


def write_csv(study: Supervised) -> str:
    """Return a line for each figure of a dev set or a test set."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    place = ("row", "title", "trained_on", "trained_level", "seed")
    writer.writerow(
        [*place, "split", "corpus", "level", "precision", "recall", "f1", "threshold", "signature"]
    )
    for row in study.rows():
        for one in study.of_row(row):
            of = [row.name, row.title, *one.place[1:]]
            figures = [
                ("dev", c, level, score) for c, levels in one.dev.items() for level, score in levels.items()
            ]
            figures += [("test", *key.split(" "), score) for key, score in one.test.items()]
            for split, corpus, level, score in figures:
                shares = [f"{100 * score[name]:.2f}" for name in ("precision", "recall", "f1")]
                rest = [score["threshold"], score.get("signature", "")]
                writer.writerow([*of, split, corpus, level, *shares, *rest])
    return text.getvalue()


def as_json(study: Supervised) -> str:
    rows = []
    for row in study.rows():
        results = [one.to_dict() for one in study.of_row(row)]
        values = [
            {name: value for name, value in one.items() if name not in ("row", "key")} for one in results
        ]
        rows.append({"row": row.name, "title": row.title, "results": values})
    ground = study.ground
    about = {
        "version": otalign.__version__,
        "encoder": ground.encoder,
        "precision": ground.precision,
        "limit": ground.source.limit,
        "failed": [{**one.place._asdict(), "error": one.error} for one in study.failures],
    }
    return json.dumps(about | {"rows": rows}, indent=2, allow_nan=False) + "\n"
