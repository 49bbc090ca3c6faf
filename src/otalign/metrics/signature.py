"""One line that says how a score was made, so that a number in a paper can be got again."""

from collections.abc import Mapping

import otalign
from otalign.metrics.counts import Counts
from otalign.metrics.measures import select_measures
from otalign.metrics.resampling import Resampling


def signature(
    counts: Counts,
    measure: str = "f1",
    resampling: Resampling | None = None,
    more: Mapping[str, object] | None = None,
) -> str:
    """`key:value` fields joined by `|`: the score, the gold's level, the trials if any, `more`, the version.

    `more` is for what made the prediction: an aligner's encoder, layer, problem; a corpus and its split.
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
            raise ValueError(f"more must hold no '|', line break or ':' in a key, got {key!r}: {value!r}")
        fields[key] = value
    fields["version"] = otalign.__version__
    return "|".join(f"{key}:{value}" for key, value in fields.items())
