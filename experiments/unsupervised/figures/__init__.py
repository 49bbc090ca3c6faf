"""The figures of a study, each as SVG and as PNG (`pip install 'otalign[plot]'`).

Lines are labelled at their ends and differ in more than colour, so that they are distinct in grey.
"""

from pathlib import Path

from experiments.unsupervised.figures.lines import plot_by_null_rate, plot_by_phrase_share
from experiments.unsupervised.figures.matrices import EXAMPLES, plot_matrices
from experiments.unsupervised.run import Study
from otalign.render.canvas import save


def write(study: Study, folder: Path) -> list[Path]:
    """Write the figures that the finished cells allow: F1 by nulls and phrases, and plans of a few pairs."""
    figures = {"f1-by-null-rate": plot_by_null_rate(study), "f1-by-phrase-share": plot_by_phrase_share(study)}
    for number in range(len(EXAMPLES)):
        figures[f"matrices-{number + 1}"] = plot_matrices(study, number)
    folder.mkdir(parents=True, exist_ok=True)
    return [path for name, figure in figures.items() if figure for path in save(figure, folder / name)]
