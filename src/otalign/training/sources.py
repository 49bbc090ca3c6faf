"""What there is to learn from and to choose by, and whether it will do: said before the first step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from otalign.alignment import LEVELS, Level
from otalign.encoders.pretrained import read_config
from otalign.encoders.transformers import Transformers
from otalign.gold import Gold
from otalign.training.batches import encode_pairs
from otalign.training.recipe import Recipe

CHECKED = 5000  # pairs whose subwords are looked at before training
MOST_UNKNOWN = 0.5  # of the subwords: more, and the tokeniser is that of another model or language


@dataclass(frozen=True)
class CorpusSplits:
    """Pairs to learn from, and pairs to choose by, of one corpus."""

    train: Sequence[Gold]
    dev: Sequence[Gold]

    @property
    def dev_levels(self) -> tuple[Level, ...]:
        """Those at which the dev set differs."""
        return LEVELS if any(gold.possible for gold in self.dev) else LEVELS[:1]


def find_known_levels(sources: Mapping[str, CorpusSplits]) -> np.ndarray:
    """At which levels the links of each train pair are known, (pairs, levels).

    A corpus that has possible links in its dev set but none in its train set was annotated there without the
    distinction: its links are all that are possible. If that goes for all, they are taken as sure as well.
    """
    vague = {
        name: any(gold.possible for gold in source.dev) and not any(gold.possible for gold in source.train)
        for name, source in sources.items()
    }
    if all(vague.values()):
        vague = dict.fromkeys(vague, False)
    return np.array(
        [[not vague[name], True] for name, source in sources.items() for _ in source.train], dtype=bool
    )


def check_sources(sources: Mapping[str, CorpusSplits]) -> None:
    """That there is something to learn from, and to choose by."""
    if not sources:
        raise ValueError("sources must hold at least one corpus, got none")
    for name, source in sources.items():
        for split, golds in (("train", source.train), ("dev", source.dev)):
            if not golds:
                raise ValueError(f"{name} has an empty {split} set; training needs pairs in both")
            if not any(gold.sure or gold.possible for gold in golds):
                raise ValueError(
                    f"{name}: the {len(golds):,} pairs of the {split} set have no link to learn from"
                )


def check_fit(encoder: Transformers, golds: Sequence[Gold], recipe: Recipe) -> None:
    """That the encoder can be saved, has the layers that are mixed, and has an embedding for all that its
    tokeniser gives, which is not unknown words."""
    if read_config(encoder.name, encoder.origin).is_encoder_decoder:
        raise ValueError(f"only encoders can be trained, and {encoder.name} has a decoder too")
    if recipe.layers > encoder.layer + 1:
        raise ValueError(
            f"layers must be at most {encoder.layer + 1}, as many as {encoder.name} has, got {recipe.layers}"
        )
    known = encoder.model.get_input_embeddings().num_embeddings
    inputs = encode_pairs(encoder.reader, [(gold.source, gold.target) for gold in golds[:CHECKED]], "joint")
    subwords = np.array([id for of in inputs for one in of for id in one.ids], dtype=np.int64)
    most = int(subwords.max(initial=0))
    if most >= known:
        raise ValueError(
            f"the tokenizer of {encoder.name} gives the subword {most}, but its encoder knows {known:,}; "
            "are the two of one model?"
        )
    unknown = float((subwords == encoder.subworder.unknown).mean()) if len(subwords) else 0.0
    if unknown > MOST_UNKNOWN:
        raise ValueError(
            f"the tokenizer of {encoder.name} does not know {unknown:.0%} of the subwords; "
            "is it made for this language?"
        )
