"""What the tables of all studies share: their columns, what is bold, and how they are written."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean

from otalign.atomic import write_atomic

MISSING = "–"


def table(headings: Iterable[str], lines: Iterable[tuple[str, Sequence[str]]]) -> str:
    """In Markdown: a title and figures on each line."""
    headings = list(headings)
    drawn = ["| | " + " | ".join(headings) + " |", "|---|" + "---:|" * len(headings)]
    drawn += [f"| {title} | " + " | ".join(shown) + " |" for title, shown in lines]
    return "\n".join(drawn)


def best(rows: Iterable[Sequence[float | None]]) -> list[float | None]:
    """The highest figure of each column, as it is shown."""
    columns = zip(*rows, strict=True)
    return [max((round(one, 1) for one in column if one is not None), default=None) for column in columns]


def shown(figure: float | None, top: float | None = None, spread: float | None = None) -> str:
    """A figure in percent, bold if it is the best of its column, and how far it differs between seeds."""
    if figure is None:
        return MISSING
    text = f"{figure:.1f}" if spread is None else f"{figure:.1f} ± {spread:.1f}"
    return f"**{text}**" if round(figure, 1) == top else text


def in_italics(figures: Sequence[float]) -> list[str]:
    """Those of others, and their mean."""
    return [f"_{one:.1f}_" for one in (*figures, mean(figures))]


def mean_of_all(figures: Sequence[float | None]) -> float | None:
    """Of all columns, or none: a mean of some of them would look like one of all."""
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
