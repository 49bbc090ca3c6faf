"""The layout of tables: columns, bold figures, and files."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean

from otalign.atomic import write_atomic

MISSING = "–"


def table(headings: Iterable[str], lines: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Return a Markdown table with a title and figures on each line."""
    headings = list(headings)
    drawn = ["| | " + " | ".join(headings) + " |", "|---|" + "---:|" * len(headings)]
    drawn += [f"| {title} | " + " | ".join(shown) + " |" for title, shown in lines]
    return "\n".join(drawn)


def best(rows: Iterable[Sequence[float | None]]) -> list[float | None]:
    """Return the highest figure of each column, rounded as it is shown."""
    columns = zip(*rows, strict=True)
    return [
        max((round(figure, 1) for figure in column if figure is not None), default=None) for column in columns
    ]


def shown(figure: float | None, top: float | None = None, spread: float | None = None) -> str:
    """Format a figure in percent, bold if it is the best of its column, with its deviation between seeds."""
    if figure is None:
        return MISSING
    text = f"{figure:.1f}" if spread is None else f"{figure:.1f} ± {spread:.1f}"
    return f"**{text}**" if round(figure, 1) == top else text


def in_italics(figures: Sequence[float]) -> list[str]:
    """Format the figures of others, and their mean, in italics."""
    return [f"_{one:.1f}_" for one in (*figures, mean(figures))]


def mean_of_all(figures: Sequence[float | None]) -> float | None:
    """Return the mean of all columns; None if one is missing, since a partial mean would mislead."""
    known = [figure for figure in figures if figure is not None]
    return mean(known) if known and len(known) == len(figures) else None


def written(folder: Path, name: str, texts: Mapping[str, str]) -> list[Path]:
    """The same tables in several forms, by the endings of their files."""
    paths = []
    for ending, text in texts.items():
        path = folder / f"{name}.{ending}"
        write_atomic(path, text)
        paths.append(path)
    return paths
