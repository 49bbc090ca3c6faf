"""From gold and an encoder to a trained peer, with the loop, the dev sets and the early stopping of ours."""

from collections.abc import Callable, Mapping

import torch

from otalign.alignment import Level
from otalign.encoders.transformers import Transformers
from otalign.peers.settings import Peer, PeerSettings
from otalign.peers.trained import TrainedPeer
from otalign.training.beginning import Beginning
from otalign.training.dev import DevSet, best_scores
from otalign.training.loop import Checkpoint, Epoch
from otalign.training.peers import MODELS, examples
from otalign.training.recipe import Recipe
from otalign.training.sources import Source, check_fit
from otalign.training.trained import Trained
from otalign.tuning.calibration import best_threshold
from otalign.tuning.store import Progress


def train_peer(
    encoder: str,
    sources: Mapping[str, Source],
    peer: Peer,
    recipe: Recipe,
    *,
    level: Level,
    device: str | None,
    half: bool,
    accumulate: int,
    checkpoint: Checkpoint | None,
    progress: Progress,
    heard: Callable[[Epoch], None],
) -> Trained:
    """A peer trained on all sources together, on the links of a level, with the threshold that is best on
    their dev sets. Sources are checked."""
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
    epochs = begun.trained(model, pairs, devs, heard=heard, **options)
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
    return Trained(aligner, recipe, level, epochs, {name: best_scores(of) for name, of in curves.items()})


def _check(encoder: Transformers, peer: Peer, recipe: Recipe) -> None:
    """That nothing is asked for that only learned transport has."""
    if encoder.mix is not None:
        raise ValueError(f"encoder must be one whose layers are not mixed, for {peer}; got {encoder.name}")
    for name, only in (("layers", 1), ("without", ())):
        if getattr(recipe, name) != only:
            raise ValueError(f"{name} must be {only!r} for {peer}, got {getattr(recipe, name)!r}")
