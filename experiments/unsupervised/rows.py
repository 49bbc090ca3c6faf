"""The rows of the unsupervised table: systems, and the values tried for them on a dev set.

To add a row, add a value to `MAIN` (the main table of the paper) or to `APPENDIX`. The kinds of rows are in
`transport`, `simalign` and `fast_align`.
"""

from fnmatch import fnmatch

from experiments.unsupervised.fast_align import FastAlignRow
from experiments.unsupervised.simalign import SimAlignRow
from experiments.unsupervised.system import System
from experiments.unsupervised.transport import DISTORTIONS, MASS, TransportRow
from otalign.ot import Balanced, Entropic, Exact, Partial, Problem, Unbalanced
from otalign.problems import PROBLEMS
from otalign.settings import DISTORTION, SMOOTHING, WHITENING

TENTHS = tuple(k / 10 for k in range(1, 11))
FINE_DISTORTIONS = tuple(k / 20 for k in range(9))  # with smoothing, less distortion is better
TAUS = (0.02, 0.06, *TENTHS)  # with many nulls, the best tau is small


def _transport_rows(cost: str, fertility: str) -> tuple[TransportRow, ...]:
    """Return the five transport rows of the paper for a cost and a fertility.

    Exact solutions link every word pair that has mass, without a threshold. Only then are the figures of
    exact balanced transport close to the paper's, which says that it leaves no nulls. The best distortion is
    that of unbalanced transport; the slower partial transport and the exact solver use it too, as the paper
    uses that of SimAlign.
    """
    plain = (cost, fertility) == ("cosine", "uniform")
    ending, description = ("", "") if plain else (f"-{cost}-{fertility}", f", {cost}, {fertility}")
    options = {"cost": cost, "fertility": fertility}

    def row(name: str, title: str, *rest, **more) -> TransportRow:
        return TransportRow(name + ending, title + description, *rest, **options, **more)  # pyright: ignore

    return (
        row("bot-exact", "BOT exact", Balanced(), Exact(), thresholds=MASS),
        row("bot-sinkhorn", "BOT Sinkhorn", Balanced(), Entropic(), distortions=DISTORTIONS),
        row("pot-exact", "POT exact", Partial(1), Exact(), parameters=TENTHS, thresholds=MASS),
        row("pot-sinkhorn", "POT Sinkhorn", Partial(1), Entropic(), parameters=TENTHS),
        row(
            "uot-sinkhorn",
            "UOT Sinkhorn",
            Unbalanced(1),
            Entropic(),
            parameters=TAUS,
            distortions=DISTORTIONS,
        ),
    )


def _threshold_row(cost: str) -> TransportRow:
    return TransportRow(
        f"threshold-{cost}",
        f"Threshold on {cost} costs",
        None,
        Entropic(),
        cost=cost,  # pyright: ignore[reportArgumentType]
        distortions=DISTORTIONS,
    )


def _improved_row(name: str, title: str, problem: Problem, **options) -> TransportRow:
    """Return a row of the paper with settings that are better on the dev sets, with MPNet and with MiniLM."""
    better = {"whitening": 0.5, "smoothing": 0.15}
    return TransportRow(
        f"{name}-beyond", f"{title}, whitened, smoothed", problem, Entropic(), **better, **options
    )


MAIN: tuple[System, ...] = (
    FastAlignRow("fast-align", "fast-align"),
    SimAlignRow("simalign", "SimAlign (IterMax)"),
    _threshold_row("cosine"),
    _threshold_row("euclidean"),
    *_transport_rows("cosine", "uniform"),
    # Rows that are not in the paper. First, better ones: with whitening and smoothing.
    _improved_row("bot", "BOT", Balanced(), distortions=FINE_DISTORTIONS),
    _improved_row("pot", "POT", Partial(1), parameters=TENTHS),
    _improved_row("uot", "UOT", Unbalanced(1), parameters=TAUS, distortions=FINE_DISTORTIONS),
    # The defaults of `Settings`: nothing is tuned for the corpus.
    TransportRow(
        "auto",
        "auto: one setting for all",
        Partial(1.0),
        Entropic(),
        whitening=WHITENING,
        smoothing=SMOOTHING,
        distortions=(DISTORTION,),
        thresholds=(PROBLEMS["pot"].threshold,),
    ),
    # Then exact balanced transport with a threshold.
    TransportRow("bot-exact-threshold", "BOT exact, threshold tuned", Balanced(), Exact()),
)
APPENDIX: tuple[System, ...] = tuple(
    row
    for cost, fertility in (("cosine", "norm"), ("euclidean", "uniform"), ("euclidean", "norm"))
    for row in _transport_rows(cost, fertility)
)
APPENDIX_NAMES = frozenset(row.name for row in APPENDIX)
ROWS = {row.name: row for row in (*MAIN, *APPENDIX)}


def select_rows(patterns: str) -> tuple[System, ...]:
    """Return the rows of a comma-separated list: `main`, `all`, names, or patterns such as uot*."""
    names: list[str] = []
    for pattern in (part.strip() for part in patterns.split(",")):
        if pattern in ("main", "all"):
            found = [row.name for row in (MAIN if pattern == "main" else (*MAIN, *APPENDIX))]
        else:
            found = [name for name in ROWS if fnmatch(name, pattern)]
        if not found:
            raise ValueError(f"rows must be main, all, or one of {', '.join(ROWS)}; got {pattern!r}")
        names += found
    return tuple(ROWS[name] for name in ROWS if name in names)
