"""The systems that the paper compares with, written for this library and equal to their tools link by link.

`SimAlign` takes the similarities of one pair's words; `FastAlign` learns from a whole corpus of pairs, and
`symmetrised` joins its two directions, or those of any other aligner. `SimAligner` and `FastAligner` are the
two behind the interface of `Aligner`: sentences in, alignments out.
"""

from otalign.baselines.aligners import FastAligner, SimAligner
from otalign.baselines.fast_align import Aligned, FastAlign, Step, TrainedFastAlign
from otalign.baselines.simalign import ArgMax, IterMax, Matching, MaximumMatching, SimAlign, similarity
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
    "similarity",
    "symmetrise",
]
