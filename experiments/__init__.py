"""The paper's tables and figures, made again from the corpora and an encoder: rows, cells, tables.

study = unsupervised(Source("encoder/", Path("corpora/")), Path("results/"), chosen("main"), [Choice(4)])
tables.write(study, Path("results/"))
"""

from experiments.cells import Cell
from experiments.choice import Chosen
from experiments.columns import COLUMNS, Column
from experiments.material import Source
from experiments.rows import APPENDIX, MAIN, ROWS, chosen
from experiments.run import Study, unsupervised

__all__ = [
    "APPENDIX",
    "COLUMNS",
    "MAIN",
    "ROWS",
    "Cell",
    "Chosen",
    "Column",
    "Source",
    "Study",
    "chosen",
    "unsupervised",
]
