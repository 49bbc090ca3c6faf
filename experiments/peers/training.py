"""Training of the supervised peers, with the loop, the dev sets and the early stopping of otalign."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from experiments.peers.aligner import TrainedPeer
from experiments.peers.models import MODELS, make_examples
from experiments.peers.settings import Peer, PeerSettings
from otalign.alignment import Level
from otalign.encoders.transformers import Transformers
from otalign.training.accelerator import load_encoder, make_accelerator
from otalign.training.checkpoints import RunKey
from otalign.training.dev import DevSet
from otalign.training.epochs import DevScores, Epoch, compute_mean_f1, find_best_scores
from otalign.training.options import DEFAULT_OPTIONS, RunOptions
from otalign.training.recipe import PAPER, Recipe
from otalign.training.run import TrainingRun
from otalign.training.sources import CorpusSplits, check_encoder, check_sources
from otalign.tuning.calibration import find_best_threshold

# The recipes of the peers, with the paper's early stopping. A step of span prediction is a batch of queries,
# one for each word: an epoch of it is as long as twenty or more of the others, and its hyperparameters are
# those for SQuAD.
RECIPES: dict[Peer, Recipe] = {
    "semi-crf": PAPER.replace(learning_rate=1e-4, head_lr_multiplier=10.0, optimizer="adamw", batch_size=32),
    "span-prediction": PAPER.replace(learning_rate=5e-5, optimizer="adamw", epochs=3, decay=True),
}


@dataclass(frozen=True, eq=False)
class PeerTraining:
    """A trained peer with its epochs and dev scores, like `otalign.training.TrainingResult`."""

    aligner: TrainedPeer
    recipe: Recipe
    level: Level
    epochs: list[Epoch]
    dev: DevScores

    @property
    def f1(self) -> float:
        """The mean F1 over dev sets and levels, each at its best threshold."""
        return compute_mean_f1(self.dev)


def train_peer(
    encoder: str,
    sources: Mapping[str, CorpusSplits],
    peer: Peer,
    recipe: Recipe,
    *,
    level: Level = "sure",
    options: RunOptions = DEFAULT_OPTIONS,
) -> PeerTraining:
    """Train a peer on several corpora together, and choose the best threshold on their dev sets.

    Args:
        encoder: Folder or name of a pretrained encoder.
        sources: Gold pairs for training and for selection, by the name of their corpus.
        peer: The peer.
        recipe: Hyperparameters.
        level: Level of the links to learn.
        options: Hardware, checkpoint and progress.

    Returns:
        The peer with its scores.

    Raises:
        ValueError: If the inputs do not belong together.
    """
    check_sources(sources)
    golds = [gold for source in sources.values() for gold in source.train]
    accelerator = make_accelerator(options.device)
    base = load_encoder(encoder, recipe.depth, accelerator.device)
    _check(base, peer, recipe)
    check_encoder(base, golds, recipe)
    torch.manual_seed(recipe.seed)
    model = MODELS[peer](base, level).to(accelerator.device)
    devs = {
        name: DevSet.build(make_examples(peer, source.dev, base, level), (level,))
        for name, source in sources.items()
    }
    dev_golds = {name: source.dev for name, source in sources.items()}
    key = RunKey.compute(golds, dev_golds, (encoder, list(sources), peer, recipe, level))
    pairs = make_examples(peer, golds, base, level, recipe.both_directions)
    epochs = TrainingRun(model, pairs, devs, recipe, options, key=key, accelerator=accelerator).fit()
    curves = {name: dev.compute_curves(model) for name, dev in devs.items()}
    threshold = find_best_threshold(curves.values(), level)
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
    return PeerTraining(aligner, recipe, level, epochs, find_best_scores(curves))


def _check(encoder: Transformers, peer: Peer, recipe: Recipe) -> None:
    """Raise ValueError if the encoder or the recipe has something that only learned transport has."""
    if encoder.mix is not None:
        raise ValueError(f"encoder must be one whose layers are not mixed, for {peer}; got {encoder.name}")
    for name, only in (("layers", 1), ("ablate", ())):
        if getattr(recipe, name) != only:
            raise ValueError(f"{name} must be {only!r} for {peer}, got {getattr(recipe, name)!r}")
