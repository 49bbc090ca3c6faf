"""The supervised table of the paper and its extensions: systems trained on every corpus with several seeds.

context = StudyContext.prepare(StudySource("encoder/", Path("corpora/")), Path("results/"))
tables.write(run_study(context, select_rows("main"), workers=4), Path("results/"))
"""

from experiments.supervised.context import PRECISIONS, Precision, StudyContext
from experiments.supervised.results import Result
from experiments.supervised.rows import ROWS, select_rows
from experiments.supervised.study import SupervisedStudy, run_study
from experiments.supervised.training import Failure

__all__ = [
    "PRECISIONS",
    "ROWS",
    "Failure",
    "Precision",
    "Result",
    "StudyContext",
    "SupervisedStudy",
    "run_study",
    "select_rows",
]
