"""The supervised table of the paper and its extensions: systems trained on every corpus with several seeds.

ground = Ground.of(StudySource("encoder/", Path("corpora/")), Path("results/"))
tables.write(run_supervised(ground, select_rows("main"), workers=4), Path("results/"))
"""

from experiments.supervised.context import PRECISIONS, Ground, Precision
from experiments.supervised.results import Result
from experiments.supervised.rows import ROWS, select_rows
from experiments.supervised.study import Supervised, run_supervised
from experiments.supervised.training import Failure

__all__ = [
    "PRECISIONS",
    "ROWS",
    "Failure",
    "Ground",
    "Precision",
    "Result",
    "Supervised",
    "run_supervised",
    "select_rows",
]
