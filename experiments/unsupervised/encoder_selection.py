"""Selection of layer and pairing by unbalanced transport, as in the paper, on the dev sets alone.

The figure of a dev set is the mean F1 of its levels; that of a choice is the mean of the four dev sets.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from experiments.columns import DEVS, dev_levels
from experiments.study_data import StudyData
from otalign.ot import Unbalanced
from otalign.tuning import EncoderChoice, SearchGrid, tune

GRID = SearchGrid(parameters=(0.06, 0.2, 0.6), distortions=(0.3,))


@dataclass(frozen=True)
class EncoderSelection:
    """The choice of layer and pairing, and the dev F1 of each that was tried; empty if there was only one."""

    choice: EncoderChoice
    tried: dict[EncoderChoice, float]

    def to_dict(self) -> dict[str, object]:
        tried = [{**choice._asdict(), "dev_f1": f1} for choice, f1 in self.tried.items()]
        return {**self.choice._asdict(), "tried": tried}


def select_encoder_settings(data: StudyData, choices: Sequence[EncoderChoice]) -> EncoderSelection:
    """Return the best choice, the first of equals, and delete embeddings that are no longer needed."""
    if len(choices) == 1:
        return EncoderSelection(choices[0], {})
    scores: dict[EncoderChoice, list[float]] = {choice: [] for choice in choices}
    for dev in DEVS:
        for choice, f1 in _score_choices(data, dev, choices).items():
            scores[choice].append(f1)
    means = {choice: mean(values) for choice, values in scores.items()}
    best = max(choices, key=lambda choice: round(means[choice], 10))
    for dev in DEVS:
        data.open_store(dev, "dev", choices).delete(choice for choice in choices if choice != best)
    return EncoderSelection(best, means)


def _score_choices(data: StudyData, dev: str, choices: Sequence[EncoderChoice]) -> dict[EncoderChoice, float]:
    """Return the F1 of each choice on a dev set, mean over levels."""
    levels = dev_levels(dev)
    tuned = tune(
        data.get_golds(dev, "dev"),
        data.open_store(dev, "dev", choices),
        data.make_settings(choices[0]).replace(problem=Unbalanced(1), whitening=0.0, smoothing=0.0),
        GRID,
        levels,
        journal=data.open_journal(dev),
        progress=lambda what, done, of: data.progress(f"layer and pairing, {dev} dev", done, of),
    )
    means: dict[EncoderChoice, float] = {}
    for choice in choices:
        values = [
            max(row.f1 for row in tuned[level].rows if (row.settings.layer, row.settings.pairing) == choice)
            for level in levels
        ]
        means[choice] = mean(values)
    return means
