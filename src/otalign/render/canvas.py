"""What figures share: matplotlib, fetched when one is drawn, and a plain style."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from otalign.atomic import open_atomic

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
    "svg.hashsalt": "otalign",
    "pdf.fonttype": 42,  # text that can be searched, as publishers ask for
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
    """The figure as SVG and as PNG."""
    return [write(figure, path.with_name(f"{path.name}.{ending}")) for ending in ("svg", "png")]


def write(figure: Any, path: Path) -> Path:
    """The figure as its name ends."""
    matplotlib = _matplotlib()
    ending = path.suffix.lower().lstrip(".")
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}  # the same figure is the same file
    options = {"metadata": dates.get(ending), "dpi": DOTS, "facecolor": "white", "bbox_inches": "tight"}
    with matplotlib.rc_context(STYLE), open_atomic(path) as file:
        figure.savefig(file, format=ending, **options)
    return path


def _matplotlib() -> Any:
    try:
        import matplotlib  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install 'otalign[plot]'") from error
    return matplotlib
