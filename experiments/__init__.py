"""The paper's tables and figures, made again from the corpora and an encoder: rows, cells, tables.

study = unsupervised(Source("encoder/", Path("corpora/")), Path("results/"), chosen("main"), [Choice(4)])
tables.write(study, Path("results/"))
"""

from experiments.cells import Cell
from experiments.choice import EncoderSelection
from experiments.columns import COLUMNS, Column
from experiments.material import StudySource
from experiments.rows import APPENDIX, MAIN, ROWS, select_rows
from experiments.run import Study, run_unsupervised

__all__ = [
    "APPENDIX",
    "COLUMNS",
    "MAIN",
    "ROWS",
    "Cell",
    "Column",
    "EncoderSelection",
    "Study",
    "StudySource",
    "run_unsupervised",
    "select_rows",
]
