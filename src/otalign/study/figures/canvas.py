"""What figures share: matplotlib, fetched when one is drawn, a plain style, names at the ends of lines."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

INK, FAINT = "#222222", "#8a8a8a"
STYLE = {
    "font.size": 9,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "xtick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.color": FAINT,
    "ytick.labelcolor": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "svg.hashsalt": "otalign",  # the same figure is the same file
}
DOTS = 200  # an inch, of the PNG


def blank(width: float, height: float, columns: int, **options: Any) -> tuple[Any, Sequence[Any]]:
    """A figure of so many inches, and its axes side by side."""
    matplotlib = _matplotlib()
    from matplotlib.figure import Figure  # pyright: ignore[reportMissingImports]

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots(1, columns, squeeze=False, **options)[0]
    return figure, axes


def save(figure: Any, path: Path) -> list[Path]:
    """The figure as SVG and as PNG, written beside their places first."""
    matplotlib = _matplotlib()
    written = []
    for ending in ("svg", "png"):
        place = path.with_name(f"{path.name}.{ending}")
        part = place.with_name(f".part-{place.name}")
        dated = {"metadata": {"Date": None}} if ending == "svg" else {}
        with matplotlib.rc_context(STYLE):
            figure.savefig(part, format=ending, dpi=DOTS, facecolor="white", bbox_inches="tight", **dated)
        part.replace(place)
        written.append(place)
    return written


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Places as near to these as they can be with a gap between any two, in the same order."""
    order = sorted(range(len(places)), key=lambda k: places[k])
    groups: list[tuple[list[int], float]] = []  # members, and the place of their middle
    for k in order:
        members, middle = [k], places[k]
        while groups and middle - groups[-1][1] < gap * (len(members) + len(groups[-1][0])) / 2:
            members = groups.pop()[0] + members
            middle = sum(places[one] for one in members) / len(members)
        groups.append((members, middle))
    found = list(places)
    for members, middle in groups:
        for rank, k in enumerate(members):
            found[k] = middle + gap * (rank - (len(members) - 1) / 2)
    return found


def _matplotlib() -> Any:
    try:
        import matplotlib  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install 'otalign[plot]'") from error
    return matplotlib
