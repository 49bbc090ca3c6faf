"""The baselines SimAlign and fast_align, reimplemented; their links equal those of the original tools.

`SimAlign` takes the similarities of the words of one pair. `FastAlign` learns from a whole corpus of pairs,
and `symmetrise` combines its two directions, or those of any other aligner. `SimAligner` and `FastAligner`
have the interface of `Aligner`: sentences in, alignments out.

Example:
    >>> import numpy as np
    >>> from otalign.baselines import ArgMax, SimAlign, symmetrise
    >>> sorted(SimAlign(ArgMax()).align(np.array([[0.9, 0.2], [0.1, 0.8]])))
    [(0, 0), (1, 1)]
    >>> sorted(symmetrise({(0, 0), (1, 1)}, {(0, 0)}, "union"))
    [(0, 0), (1, 1)]
"""

from otalign.baselines.aligners import FastAligner, SimAligner
from otalign.baselines.fast_align import Aligned, FastAlign, Step, TrainedFastAlign
from otalign.baselines.simalign import (
    ArgMax,
    IterMax,
    Matching,
    MaximumMatching,
    SimAlign,
    compute_similarity,
)
from otalign.baselines.symmetrisation import Symmetrisation, symmetrise

__all__ = [
    "Aligned",
    "ArgMax",
    "FastAlign",
    "FastAligner",
    "IterMax",
    "Matching",
    "MaximumMatching",
    "SimAlign",
    "SimAligner",
    "Step",
    "Symmetrisation",
    "TrainedFastAlign",
    "compute_similarity",
    "symmetrise",
]
