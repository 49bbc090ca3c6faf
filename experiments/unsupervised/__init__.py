"""The unsupervised table of the paper: systems (rows) that are tuned and scored on corpora (columns).

source = StudySource("encoder/", Path("corpora/"))
study = run_study(source, Path("results/"), select_rows("main"), [EncoderChoice(4)])
tables.write(study, Path("results/"))
"""

from experiments.unsupervised.cells import Cell
from experiments.unsupervised.encoder_selection import EncoderSelection
from experiments.unsupervised.rows import APPENDIX, MAIN, ROWS, select_rows
from experiments.unsupervised.run import Study, run_study

__all__ = [
    "APPENDIX",
    "MAIN",
    "ROWS",
    "Cell",
    "EncoderSelection",
    "Study",
    "run_study",
    "select_rows",
]
