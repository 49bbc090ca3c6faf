"""The format of tables: columns, bold figures, and files."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean

from otalign.atomic import write_atomic

MISSING = "–"


def format_table(headings: Iterable[str], lines: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Format a Markdown table with a title and figures on each line."""
    headings = list(headings)
    table = ["| | " + " | ".join(headings) + " |", "|---|" + "---:|" * len(headings)]
    table += [f"| {title} | " + " | ".join(figures) + " |" for title, figures in lines]
    return "\n".join(table)


def find_best(rows: Iterable[Sequence[float | None]]) -> list[float | None]:
    """Return the highest figure of each column, rounded as in the table."""
    columns = zip(*rows, strict=True)
    return [
        max((round(figure, 1) for figure in column if figure is not None), default=None) for column in columns
    ]


def format_figure(figure: float | None, top: float | None = None, spread: float | None = None) -> str:
    """Format a figure in percent, bold if it is the best of its column, with its deviation between seeds."""
    if figure is None:
        return MISSING
    text = f"{figure:.1f}" if spread is None else f"{figure:.1f} ± {spread:.1f}"
    return f"**{text}**" if round(figure, 1) == top else text


def format_italics(figures: Sequence[float]) -> list[str]:
    """Format the figures of others, and their mean, in italics."""
    return [f"_{one:.1f}_" for one in (*figures, mean(figures))]


def compute_mean(figures: Sequence[float | None]) -> float | None:
    """Return the mean of all columns; None if one is missing, since a partial mean would mislead."""
    known = [figure for figure in figures if figure is not None]
    return mean(known) if known and len(known) == len(figures) else None


def write_tables(folder: Path, name: str, texts: Mapping[str, str]) -> list[Path]:
    """Write the same tables in several forms, by the endings of their files; return the files."""
    paths = []
    for ending, text in texts.items():
        path = folder / f"{name}.{ending}"
        write_atomic(path, text)
        paths.append(path)
    return paths
