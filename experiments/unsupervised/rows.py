"""The rows of the unsupervised table: systems, and the values tried for them on a dev set.

To add a row, add a value to `MAIN` (the main table of the paper) or to `APPENDIX`. The kinds of rows are in
`transport`, `similarity` and `statistics`.
"""

from fnmatch import fnmatch

from experiments.unsupervised.fast_align import Statistics
from experiments.unsupervised.simalign import Similarity
from experiments.unsupervised.system import System
from experiments.unsupervised.transport import DISTORTIONS, MASS, Transported
from otalign.ot import Balanced, Entropic, Exact, Partial, Problem, Unbalanced
from otalign.problems import PROBLEMS
from otalign.settings import DISTORTION, SMOOTHING, WHITENING

TENTHS = tuple(k / 10 for k in range(1, 11))
FINER = tuple(k / 20 for k in range(9))  # with neighbours counted, less distortion is wanted
TAUS = (0.02, 0.06, *TENTHS)  # where nulls are many, the best tau is small


def _transport_rows(cost: str, fertility: str) -> tuple[Transported, ...]:
    """The five transport rows of the paper under a cost and a fertility.

    Without entropy every word pair that has mass is linked: so, and not with a threshold, the figures of
    exact balanced transport come near the paper's, which says that it leaves no nulls. Which distortion is
    best is found by unbalanced transport and taken over by the slower partial one, and by the exact solver,
    as the paper takes over that of SimAlign.
    """
    plain = (cost, fertility) == ("cosine", "uniform")
    ending, description = ("", "") if plain else (f"-{cost}-{fertility}", f", {cost}, {fertility}")
    ground = {"cost": cost, "fertility": fertility}

    def row(name: str, title: str, *rest, **options) -> Transported:
        return Transported(name + ending, title + description, *rest, **ground, **options)  # pyright: ignore

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


def _threshold_row(cost: str) -> Transported:
    return Transported(
        f"threshold-{cost}",
        f"Threshold on {cost} costs",
        None,
        Entropic(),
        cost=cost,  # pyright: ignore[reportArgumentType]
        distortions=DISTORTIONS,
    )


def _beyond(name: str, title: str, problem: Problem, **options) -> Transported:
    """Return a row of the paper with settings that are better on the dev sets, with MPNet and with MiniLM."""
    better = {"whitening": 0.5, "smoothing": 0.15}
    return Transported(
        f"{name}-beyond", f"{title}, whitened, smoothed", problem, Entropic(), **better, **options
    )


MAIN: tuple[System, ...] = (
    Statistics("fast-align", "fast-align"),
    Similarity("simalign", "SimAlign (IterMax)"),
    _threshold_row("cosine"),
    _threshold_row("euclidean"),
    *_transport_rows("cosine", "uniform"),
    # Not in the paper. First, what is ahead of it: whitened embeddings, and neighbours that count.
    _beyond("bot", "BOT", Balanced(), distortions=FINER),
    _beyond("pot", "POT", Partial(1), parameters=TENTHS),
    _beyond("uot", "UOT", Unbalanced(1), parameters=TAUS, distortions=FINER),
    # The defaults of `Settings`: nothing is tuned for the corpus.
    Transported(
        "auto",
        "auto: one setting for all",
        Partial(1.0),
        Entropic(),
        whitening=WHITENING,
        smoothing=SMOOTHING,
        distortions=(DISTORTION,),
        thresholds=(PROBLEMS["pot"].threshold,),
    ),
    # Then what a threshold alone does for balanced transport, without entropy.
    Transported("bot-exact-threshold", "BOT exact, threshold tuned", Balanced(), Exact()),
)
APPENDIX: tuple[System, ...] = tuple(
    row
    for ground in (("cosine", "norm"), ("euclidean", "uniform"), ("euclidean", "norm"))
    for row in _transport_rows(*ground)
)
APPENDED = frozenset(row.name for row in APPENDIX)
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
            raise ValueError(f"rows must be main, all, or of {', '.join(ROWS)}; got {pattern!r}")
        names += found
    return tuple(ROWS[name] for name in ROWS if name in names)
