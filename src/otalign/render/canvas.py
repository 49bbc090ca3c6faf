"""Shared parts of figures: a plain style, and matplotlib, imported when a figure is drawn."""

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
    "pdf.fonttype": 42,  # searchable text, which publishers require
}
DPI = 200  # of PNG files
# Fonts of words, as far as they are installed: matplotlib takes each letter from the first one that has it.
# DejaVu Sans comes with matplotlib.
FONTS = (
    *("DejaVu Sans", "Noto Sans", "Arial Unicode MS", "Segoe UI", "Arial"),
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans JP", "Noto Sans SC", "Noto Sans KR", "IPAGothic"),
    *("Hiragino Sans", "PingFang SC", "Heiti TC", "Apple SD Gothic Neo", "Yu Gothic", "MS Gothic", "SimHei"),
    *("Microsoft YaHei", "Malgun Gothic", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Droid Sans Fallback"),
    *("Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Devanagari", "Noto Sans Thai", "Noto Sans Symbols2"),
)


def blank(width: float, height: float, columns: int, **options: Any) -> tuple[Any, Sequence[Any]]:
    """Return a figure of a size in inches, and its axes side by side."""
    matplotlib = _import_matplotlib()
    from matplotlib.figure import Figure  # pyright: ignore[reportMissingImports]

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots(1, columns, squeeze=False, **options)[0]
    return figure, axes


def find_fonts() -> list[str]:
    """Return the fonts of words: those that the user has set, then the installed ones of `FONTS`."""
    matplotlib = _import_matplotlib()
    from matplotlib.font_manager import fontManager  # pyright: ignore[reportMissingImports]

    installed = set(fontManager.get_font_names())
    chosen = [name for name in matplotlib.rcParams["font.family"] if name in installed]
    return list(dict.fromkeys(chosen + [name for name in FONTS if name in installed]))


def save(figure: Any, path: Path) -> list[Path]:
    """Save the figure as SVG and as PNG; return the files."""
    return [write(figure, path.with_name(f"{path.name}.{ending}")) for ending in ("svg", "png")]


def write(figure: Any, path: Path) -> Path:
    """Save the figure in the format of its file name."""
    matplotlib = _import_matplotlib()
    ending = path.suffix.lower().lstrip(".")
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}  # so that equal figures are equal files
    options = {"metadata": dates.get(ending), "dpi": DPI, "facecolor": "white", "bbox_inches": "tight"}
    with matplotlib.rc_context(STYLE), open_atomic(path) as file:
        figure.savefig(file, format=ending, **options)
    return path


def _import_matplotlib() -> Any:
    try:
        import matplotlib  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install 'otalign[plot]'") from error
    return matplotlib
