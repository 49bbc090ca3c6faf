"""A line that states how a score was computed, so that a published number can be reproduced."""

from collections.abc import Mapping

import otalign
from otalign.metrics.counts import Counts
from otalign.metrics.measures import select_measures
from otalign.metrics.resampling import Resampling


def describe_score(
    counts: Counts,
    measure: str = "f1",
    resampling: Resampling | None = None,
    more: Mapping[str, object] | None = None,
) -> str:
    """Describe how a score was computed, as `key:value` fields joined by `|`.

    Args:
        counts: Counts of the corpus.
        measure: Name of the score in `MEASURES`.
        resampling: Options of the interval, if there is one.
        more: Further fields, such as the aligner's encoder, layer and problem, or the corpus and its split.

    Returns:
        The score, the level of the gold, the trials if any, `more` and the version of otalign.

    Raises:
        ValueError: If a further field has a reserved name, or contains `|` or a line break.

    Example:
        >>> from otalign.metrics import count_pair, describe_score
        >>> describe_score(count_pair([(0, 0)], [(0, 0)], n=1, m=1)).rpartition("|")[0]
        'measure:f1|average:macro|counted:links+nulls|level:sure|pairs:1'
    """
    (score,) = select_measures([measure])
    fields: dict[str, object] = {
        "measure": score.name,
        "average": score.average,
        "counted": score.counted,
        "level": counts.level,
        "pairs": len(counts),
    }
    if resampling:
        fields |= {"trials": resampling.trials, "seed": resampling.seed, "confidence": resampling.confidence}
    for key, value in (more or {}).items():
        if key in fields or key == "version":
            raise ValueError(f"more must not name {key!r} again, got {value!r}; choose another key")
        if any(mark in f"{key}{value}" for mark in "|\n") or ":" in key:
            raise ValueError(
                f"more must not contain '|', a line break, or ':' in a key, got {key!r}: {value!r}"
            )
        fields[key] = value
    fields["version"] = otalign.__version__
    return "|".join(f"{key}:{value}" for key, value in fields.items())
