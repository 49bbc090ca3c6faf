"""The paper's tables and figures, made again from the corpora and an encoder: rows, cells, tables.

study = unsupervised(Source("encoder/", Path("corpora/")), Path("results/"), chosen("main"), [Choice(4)])
tables.write(study, Path("results/"))
"""

from otalign.study.cells import Cell
from otalign.study.choice import Chosen
from otalign.study.columns import COLUMNS, Column
from otalign.study.material import Source
from otalign.study.rows import APPENDIX, MAIN, ROWS, chosen
from otalign.study.run import Study, unsupervised

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
