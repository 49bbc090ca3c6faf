"""From gold and an encoder to a trained peer, with the loop, the dev sets and the early stopping of ours."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import mean

import torch

from experiments.peers.models import MODELS, examples
from experiments.peers.settings import Peer, PeerSettings
from experiments.peers.trained import TrainedPeer
from otalign.alignment import Level
from otalign.encoders.transformers import Transformers
from otalign.progress import Progress, no_progress
from otalign.training.beginning import Beginning
from otalign.training.dev import DevScore, DevSet, best_scores
from otalign.training.loop import Checkpoint, Epoch
from otalign.training.recipe import PAPER, Recipe
from otalign.training.sources import CorpusSplits, check_fit, check_sources
from otalign.tuning.calibration import best_threshold

# The recipes of the peers, with the paper's early stopping. A step of span prediction counts queries, one
# for each word: an epoch of it is as long as twenty or more of the others, and it is fine-tuned as for SQuAD.
RECIPES: dict[Peer, Recipe] = {
    "semi-crf": PAPER.replace(learning_rate=1e-4, head_pace=10.0, optimizer="adamw", batch_size=32),
    "span-prediction": PAPER.replace(learning_rate=5e-5, optimizer="adamw", epochs=3, decay=True),
}


@dataclass(frozen=True, eq=False)
class PeerTraining:
    """A trained peer with its epochs and dev scores, as `otalign.training.Trained` is of an aligner."""

    aligner: TrainedPeer
    recipe: Recipe
    level: Level
    epochs: list[Epoch]
    dev: dict[str, dict[Level, DevScore]]

    @property
    def f1(self) -> float:
        """The mean F1 over dev sets and levels, each at its best threshold."""
        return mean(score.f1 for levels in self.dev.values() for score in levels.values())


def train_peer(
    encoder: str,
    sources: Mapping[str, CorpusSplits],
    peer: Peer,
    recipe: Recipe,
    *,
    level: Level = "sure",
    device: str | None = None,
    half: bool = False,
    accumulate: int = 1,
    checkpoint: Checkpoint | None = None,
    progress: Progress = no_progress,
    heard: Callable[[Epoch], None] = lambda epoch: None,
) -> PeerTraining:
    """A peer trained on all sources together, on the links of a level, with the threshold that is best on
    their dev sets."""
    check_sources(sources)
    golds = [gold for source in sources.values() for gold in source.train]
    begun = Beginning(
        encoder, recipe, device, progress, f"{encoder} {[*sources]} {golds} {peer} {recipe} {level}"
    )
    base = begun.base
    _check(base, peer, recipe)
    check_fit(base, golds, recipe)
    torch.manual_seed(recipe.seed)
    model = MODELS[peer](base, level).to(begun.accelerator.device)
    devs = {
        name: DevSet.of(examples(peer, source.dev, base, level), (level,)) for name, source in sources.items()
    }
    pairs = examples(peer, golds, base, level, recipe.both_directions)
    options = {"half": half, "accumulate": accumulate, "checkpoint": checkpoint}
    epochs = begun.train(model, pairs, devs, heard=heard, **options)
    curves = {name: dev.curves(model) for name, dev in devs.items()}
    threshold = best_threshold(curves.values(), level)
    assert threshold is not None
    settings = PeerSettings(
        method=peer,
        encoder=base.name,
        layer=base.layer,
        threshold=threshold,
        trained=f"{' '.join(sources)} {level}, seed {recipe.seed}",
    )
    base.trained = True
    base.model.eval()
    aligner = TrainedPeer(base, model.head.eval(), settings)
    return PeerTraining(
        aligner, recipe, level, epochs, {name: best_scores(of) for name, of in curves.items()}
    )


def _check(encoder: Transformers, peer: Peer, recipe: Recipe) -> None:
    """That nothing is asked for that only learned transport has."""
    if encoder.mix is not None:
        raise ValueError(f"encoder must be one whose layers are not mixed, for {peer}; got {encoder.name}")
    for name, only in (("layers", 1), ("without", ())):
        if getattr(recipe, name) != only:
            raise ValueError(f"{name} must be {only!r} for {peer}, got {getattr(recipe, name)!r}")
