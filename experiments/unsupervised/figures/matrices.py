"""The plans of balanced, partial and unbalanced transport side by side, for pairs written for this library.

The darker a square, the greater its mass, scaled over the pair; links, above the tuned threshold, are framed.
The settings are those tuned on MTRef for sure links, and embeddings are centred on the mean of its test set.
"""

from typing import Any

import numpy as np

from experiments.columns import COLUMNS
from experiments.unsupervised.rows import ROWS
from experiments.unsupervised.run import Study
from otalign.encoders.embeddings import to_numpy
from otalign.encoders.whitening import Centre
from otalign.render.canvas import blank
from otalign.render.grid import CELL, label_words, squares
from otalign.scoring import TransportScorer, split_into_batches
from otalign.scoring.transport import BUDGET
from otalign.settings import Settings
from otalign.text.words import Sentence, tokenize
from otalign.tuning import EncoderChoice

EXAMPLES = (  # from examples/pairs.tsv
    (
        "Her grandfather passed away last winter after a long illness.",
        "Her grandfather died last winter.",
    ),
    (
        "The gardener watered the young trees before sunrise.",
        "Before sunrise, the young trees were watered by the gardener.",
    ),
    (
        "We finally figured out why the old printer kept breaking down.",
        "We found the reason the printer failed so often.",
    ),
)
SYSTEMS = {"BOT": "bot-sinkhorn", "POT": "pot-sinkhorn", "UOT": "uot-sinkhorn"}


def plot_matrices(study: Study, number: int) -> Any | None:
    """Draw an example, if the three systems have been tuned."""
    (column,) = (c for c in COLUMNS if (c.corpus, c.level) == ("mtref", "sure"))
    cells = {title: study.find_cell(ROWS[name], column) for title, name in SYSTEMS.items()}
    tuned = {title: Settings.from_dict(cell.settings) for title, cell in cells.items() if cell}
    if len(tuned) < len(SYSTEMS):
        return None
    source, target = (tokenize(text) for text in EXAMPLES[number])
    n, m = len(source.words), len(target.words)
    figure, axes = blank(3 * CELL * m + 2.0, CELL * n + 1.4, 3)
    for ax, (title, settings) in zip(axes, tuned.items(), strict=True):
        weights = _compute_plan(study, settings, source, target)
        linked = weights > settings.threshold
        squares(ax, weights, linked)
        label_words(ax.xaxis, target.words, linked.any(0), upright=False)
        # The rows have the same words in all three, but not the same nulls.
        label_words(ax.yaxis, source.words if ax is axes[0] else [""] * n, linked.any(1))
        ax.set_title(title, loc="left", fontsize=10, pad=4)
    return figure


def _compute_plan(study: Study, settings: Settings, source: Sentence, target: Sentence) -> np.ndarray:
    """Compute the plan (n, m), scaled to [0, 1]."""
    data, choice = study.data, EncoderChoice(settings.layer, settings.pairing)
    pair = [(source, target)]
    embeddings = data.encoder.embed_layers(pair, choice.pairing, [choice.layer])[choice.layer]
    if settings.centring:
        corpus = data.open_store("mtref", "test", [choice])[choice]
        embeddings = Centre.fit([corpus], settings.whitening).apply(embeddings)
    ((_, batch),) = split_into_batches(embeddings, BUDGET)
    return to_numpy(TransportScorer(settings).score(batch).links)[0]
