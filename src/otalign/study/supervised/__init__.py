"""The paper's supervised table, and what goes beyond it: trained on every corpus, several seeds, tested.

ground = Ground.of(Source("encoder/", Path("corpora/")), Path("results/"))
tables.write(supervised(ground, chosen("main"), workers=4), Path("results/"))
"""

from otalign.study.supervised.ground import Ground, Precision
from otalign.study.supervised.making import Failure
from otalign.study.supervised.results import Result
from otalign.study.supervised.rows import ROWS, chosen
from otalign.study.supervised.study import Supervised, supervised

__all__ = ["ROWS", "Failure", "Ground", "Precision", "Result", "Supervised", "chosen", "supervised"]
