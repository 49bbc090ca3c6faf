"""The systems that the paper compares with, written for this library and equal to their tools link by link.

`SimAlign` takes the similarities of one pair's words; `FastAlign` learns from a whole corpus of pairs, and
`symmetrised` joins its two directions, or those of any other aligner. `SimAligner` and `FastAligner` are the
two behind the interface of `Aligner`: sentences in, alignments out.

The two that are supervised need torch and are not loaded here: `otalign.peers.trained.TrainedPeer` is one
that `otalign.training` has made.
"""

from otalign.peers.aligners import FastAligner, SimAligner
from otalign.peers.fast_align import Aligned, FastAlign, Step, TrainedFastAlign
from otalign.peers.simalign import ArgMax, IterMax, Match, Matching, SimAlign, similarity
from otalign.peers.symmetrise import Symmetrisation, symmetrised

__all__ = [
    "Aligned",
    "ArgMax",
    "FastAlign",
    "FastAligner",
    "IterMax",
    "Match",
    "Matching",
    "SimAlign",
    "SimAligner",
    "Step",
    "Symmetrisation",
    "TrainedFastAlign",
    "similarity",
    "symmetrised",
]
