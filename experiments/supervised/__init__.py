"""The paper's supervised table, and what goes beyond it: trained on every corpus, several seeds, tested.

ground = Ground.of(Source("encoder/", Path("corpora/")), Path("results/"))
tables.write(supervised(ground, chosen("main"), workers=4), Path("results/"))
"""

from experiments.supervised.ground import Ground, Precision
from experiments.supervised.making import Failure
from experiments.supervised.results import Result
from experiments.supervised.rows import ROWS, select_rows
from experiments.supervised.study import Supervised, run_supervised

__all__ = ["ROWS", "Failure", "Ground", "Precision", "Result", "Supervised", "run_supervised", "select_rows"]
