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
from experiments.supervised.study import SupervisedStudy
from experiments.supervised.training import RELIABILITY_CORPUS

Figures = dict[int, dict[str, float]]  # in percent, by seed and by the key of a column
DEV_COLUMNS = {f"{c.dev} {c.level}": c.heading for c in COLUMNS if c.dev == c.corpus}
TEST_COLUMNS = {column.key: column.heading for column in COLUMNS}


def write(study: SupervisedStudy, folder: Path) -> list[Path]:
    """Write supervised.md, .csv and .json with all finished results; return the files."""
    texts = {"md": format_markdown(study), "csv": format_csv(study), "json": format_json(study)}
    return table_format.write_tables(folder, "supervised", texts)


def format_markdown(study: SupervisedStudy) -> str:
    """Format the tables as Markdown."""
    rows = study.list_rows()
    main, limit = [row for row in rows if row.tested], study.context.source.limit
    ablated = [row for row in rows if not row.tested]
    parts = ["# Supervised alignment", _describe_study(study)]
    if limit:
        parts.append(f"**The study used only the first {limit} pairs of each split.**")
    if main:
        table = _format_table(
            main, lambda row: _collect_test(study, row, "f1"), TEST_COLUMNS, with_paper=True
        )
        about = f"The paper's figures, with {paper.ENCODER}, are in italics; the best of a column is bold."
        parts.append(f"## F1\n{about}\n\n{table}")
        for name in ("Precision", "Recall"):
            table = _format_table(
                main, lambda row, name=name: _collect_test(study, row, name.lower()), TEST_COLUMNS
            )
            parts.append(f"## {name}\n\n{table}")
        tuned = _format_table(
            [row for row in main if row.tuned], lambda row: _collect_dev(study, row), DEV_COLUMNS
        )
        parts.append(f"## F1 on the dev sets\n\n{tuned}")
        parts.append(
            f"## Chosen settings\nThe first seed chooses on the dev set.\n\n{_format_choices(study, main)}"
        )
    if ablated:
        rest = [ROWS[UNION], *ablated]
        table = _format_table(rest, lambda row: _collect_dev(study, row), DEV_COLUMNS)
        parts.append(f"## Ablations\nF1 on the dev sets; no test set was used.\n\n{table}")
    if any(study.get_results(ROWS[UNION])):
        parts.append(_format_calibration_errors(study))
    return "\n\n".join(parts) + "\n"


def _describe_study(study: SupervisedStudy) -> str:
    context = study.context
    return (
        "Figures are percentages with nulls counted: the mean over seeds ± the standard deviation. Systems "
        "are trained and tuned on train and dev sets alone, for Newsela and arXiv on those of MTRef. "
        f"Encoder {context.encoder}, {context.precision}. otalign {otalign.__version__}; "
        "signatures are in supervised.json."
    )


def _collect_test(study: SupervisedStudy, row: SupervisedRow, measure: str) -> Figures:
    found: Figures = {}
    for one in study.get_results(row):
        figures = {key: 100 * scores[measure] for key, scores in one.test.items()}
        found.setdefault(one.model.seed, {}).update(figures)
    return found


def _collect_dev(study: SupervisedStudy, row: SupervisedRow) -> Figures:
    found: Figures = {}
    for one in study.get_results(row):
        for corpus, levels in one.dev.items():
            figures = {f"{corpus} {level}": 100 * score["f1"] for level, score in levels.items()}
            found.setdefault(one.model.seed, {}).update(figures)
    return found


def _format_table(
    rows: Sequence[SupervisedRow],
    figures: Callable[[SupervisedRow], Figures],
    columns: dict[str, str],
    with_paper: bool = False,
) -> str:
    spreads = {row.name: _compute_spreads(figures(row), columns) for row in rows}
    best = table_format.find_best([[middle for middle, _ in values] for values in spreads.values()])
    lines: list[tuple[str, Sequence[str]]] = []
    if with_paper:
        others = {name: title for name, title in paper.PEERS.items() if name not in spreads}
        lines += [
            (f"_{title}_", [*table_format.format_italics(paper.SUPERVISED[name]), ""])
            for name, title in others.items()
        ]
    for row in rows:
        shown = [
            table_format.format_figure(middle, top, off)
            for (middle, off), top in zip(spreads[row.name], best, strict=True)
        ]
        lines.append((row.title, [*shown, str(len(figures(row)))]))
        if with_paper and row.name in paper.SUPERVISED:
            lines.append(("_paper_", [*table_format.format_italics(paper.SUPERVISED[row.name]), ""]))
    return table_format.format_table([*columns.values(), "mean", "seeds"], lines)


def _compute_spreads(figures: Figures, columns: Iterable[str]) -> list[tuple[float | None, float | None]]:
    """Compute mean and standard deviation of each column over its seeds, and of the mean of all columns."""
    by_column = [[seed[key] for seed in figures.values() if key in seed] for key in columns]
    means = (table_format.compute_mean([seed.get(key) for key in columns]) for seed in figures.values())
    by_column.append([one for one in means if one is not None])
    return [(mean(seeds) if seeds else None, stdev(seeds) if len(seeds) > 1 else None) for seeds in by_column]


def _format_choices(study: SupervisedStudy, rows: Sequence[SupervisedRow]) -> str:
    """Format the table of problems and learning rates chosen for each dev set and level."""
    lines = []
    for row in rows:
        firsts = {" ".join(one.model[1:3]): one for one in study.get_results(row) if one.model.seed == 1}
        if row.by_level and firsts:
            lines.append((row.title, [_format_choice(row, firsts.get(key)) for key in DEV_COLUMNS]))
    return table_format.format_table(DEV_COLUMNS.values(), lines) if lines else "Nothing."


def _format_choice(row: SupervisedRow, first: Result | None) -> str:
    if first is None:
        return table_format.MISSING
    problem, rate = row.tries[first.chosen]
    parameters = {} if isinstance(problem, str) else vars(problem)  # a peer has none
    values = ", ".join(f"{value:g}" for value in parameters.values() if isinstance(value, float))
    return f"{values.split(', ')[0]}, {rate:g}" if values else f"{rate:g}"


def _format_calibration_errors(study: SupervisedStudy) -> str:
    """Format the table of expected calibration errors of the models of all corpora, mean over seeds."""
    lines = []
    for level in dev_levels(RELIABILITY_CORPUS):
        kinds = ("links", "all cells", "nulls")
        errors = [[100 * one.error for one in collect_reliability(study, level, kind)] for kind in kinds]
        figures = [f"{mean(seeds):.2f}" if seeds else table_format.MISSING for seeds in errors]
        lines.append((level.upper(), figures))
    return (
        f"## Calibration\nThe expected calibration error in percent of {ROWS[UNION].title}, on the "
        f"{RELIABILITY_CORPUS} test set: of links with a probability of 1% or more, of all word pairs, and "
        "of nulls.\n\n" + table_format.format_table(("links", "all word pairs", "nulls"), lines)
    )


def format_csv(study: SupervisedStudy) -> str:
    """Format a line of CSV for each figure of a dev set or a test set."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = ("row", "title", "trained_on", "trained_level", "seed")
    writer.writerow(
        [*names, "split", "corpus", "level", "precision", "recall", "f1", "threshold", "signature"]
    )
    for row in study.list_rows():
        for one in study.get_results(row):
            model = [row.name, row.title, *one.model[1:]]
            figures = [
                ("dev", c, level, score) for c, levels in one.dev.items() for level, score in levels.items()
            ]
            figures += [("test", *key.split(" "), score) for key, score in one.test.items()]
            for split, corpus, level, score in figures:
                shares = [f"{100 * score[name]:.2f}" for name in ("precision", "recall", "f1")]
                rest = [score["threshold"], score.get("signature", "")]
                writer.writerow([*model, split, corpus, level, *shares, *rest])
    return text.getvalue()


def format_json(study: SupervisedStudy) -> str:
    """Format all results and a description of the study as JSON."""
    rows = []
    for row in study.list_rows():
        results = [one.to_dict() for one in study.get_results(row)]
        values = [
            {name: value for name, value in one.items() if name not in ("row", "key")} for one in results
        ]
        rows.append({"row": row.name, "title": row.title, "results": values})
    context = study.context
    about = {
        "version": otalign.__version__,
        "encoder": context.encoder,
        "precision": context.precision,
        "limit": context.source.limit,
        "failed": [{**failure.model._asdict(), "error": failure.error} for failure in study.failures],
    }
    return json.dumps(about | {"rows": rows}, indent=2, allow_nan=False) + "\n"
