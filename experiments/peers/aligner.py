"""The supervised peers behind the interface of `Aligner`: an encoder, what was trained over it, and settings.

TrainedPeer.load("crf-folder").align_many(pairs)

It is a folder, saved: the files of the encoder, `peer.safetensors` and `peer.json`. It needs torch. It does
not say how sure it is of a null.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

import otalign
from experiments.peers.queries import QueryBatch, batch, by_pairs, queries
from experiments.peers.semi_crf import SemiCrf
from experiments.peers.settings import PEER, Peer, PeerSettings, load_settings
from experiments.peers.span_prediction import QueryTensors, SpanPrediction
from otalign.alignment import Alignment, Link
from otalign.arrays import is_finite
from otalign.atomic import write_atomic
from otalign.encoders.chunks import split_into_chunks
from otalign.encoders.transformers import Transformers
from otalign.failures import describe
from otalign.method import format_signature
from otalign.scoring import PairBatch, split_into_batches
from otalign.scoring.extraction import DIGITS
from otalign.scoring.learned import BUDGET
from otalign.text.words import Pair, Text

WEIGHTS = "peer.safetensors"
HEADS: dict[Peer, type[SemiCrf] | type[SpanPrediction]] = {
    "semi-crf": SemiCrf,
    "span-prediction": SpanPrediction,
}


@dataclass(frozen=True, eq=False)
class TrainedPeer:
    """Aligns with what it has learned."""

    encoder: Transformers
    head: SemiCrf | SpanPrediction
    settings: PeerSettings

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        device: str | None = None,
        threads: int | None = None,
        batch_size: int | None = None,
        threshold: float | None = None,
    ) -> "TrainedPeer":
        """The one in a folder; a threshold goes before the one that its dev set has chosen."""
        from safetensors.torch import load_file

        settings = load_settings(Path(folder))
        if threshold is not None:
            settings = settings.replace(threshold=threshold)
        encoder = Transformers(
            str(folder), settings.layer, device=device, threads=threads, batch_size=batch_size
        )
        head = HEADS[settings.method](encoder.model.config.hidden_size)
        try:
            weights = load_file(Path(folder) / WEIGHTS)
            head.load_state_dict(weights)
        except Exception as error:  # torch raises RuntimeError for names and shapes, safetensors its own
            raise ValueError(
                f"{Path(folder) / WEIGHTS} is not what was trained: {describe(error, brief=True)}"
            ) from error
        if not all(map(is_finite, weights.values())):
            raise ValueError(f"{Path(folder) / WEIGHTS} holds numbers that are not finite; it is damaged")
        return cls(encoder, head.to(encoder.device).eval(), settings)

    def save(self, folder: str | Path) -> None:
        """Write a folder that `load` reads."""
        from safetensors.torch import save_file

        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.encoder.save(folder)
        save_file(
            {k: v.detach().cpu().contiguous() for k, v in self.head.state_dict().items()}, folder / WEIGHTS
        )
        settings = self.settings.to_dict() | {"version": otalign.__version__}
        write_atomic(folder / PEER, json.dumps(settings, allow_nan=False, indent=2) + "\n")

    @property
    def signature(self) -> str:
        """Signature `key:value|…` that describes a result so that it can be reproduced."""
        return format_signature(self.settings.signature_fields())

    def align(self, source: Text, target: Text) -> Alignment:
        """Align a pair: two texts, or two lists of words."""
        (alignment,) = self.align_many([(source, target)])
        return alignment

    def align_many(self, pairs: Iterable[tuple[Text, Text]]) -> Iterator[Alignment]:
        """Align any number of pairs lazily, in order, a chunk at a time."""
        for chunk in split_into_chunks(pairs):
            for pair, weights in zip(chunk, self._weights(chunk), strict=True):
                yield _alignment(pair, weights, self.settings.threshold)

    def _weights(self, pairs: Sequence[Pair]) -> list[np.ndarray]:
        """Return the weights of all word pairs of each pair, (n, m)."""
        made = [np.zeros((len(one.spans), len(other.spans)), dtype=np.float32) for one, other in pairs]
        match self.head:
            case SemiCrf():
                parts = crf_weights(self.encoder, self.head, pairs)
            case SpanPrediction():
                parts = span_weights(self.encoder, self.head, pairs)
        for places, weights in parts:
            if not is_finite(weights):
                raise ValueError(f"{self.encoder.name} gives weights that are not finite; it is damaged")
            for k, of in zip(places, weights, strict=True):
                n, m = made[k].shape
                made[k] = of[:n, :m]
        return made


PairWeights = Iterator[
    tuple[Sequence[int], np.ndarray]
]  # numbers of pairs, and the weights (B, N, M) of each


def crf_weights(encoder: Transformers, head: SemiCrf, pairs: Sequence[Pair]) -> PairWeights:
    embeddings = encoder.embed(pairs, "joint")
    for indices, pair_batch in split_into_batches(embeddings, BUDGET):
        yield indices, head.weights(PairBatch(*(_tensor(part, head) for part in pair_batch))).numpy()


def span_weights(encoder: Transformers, head: SpanPrediction, pairs: Sequence[Pair]) -> PairWeights:
    def read(part: QueryBatch) -> tuple[torch.Tensor, QueryTensors]:
        states = _tensor(encoder.hidden(part.ids, part.mask, part.types), head)
        return states, QueryTensors.of(part, states.device)

    lengths = np.array([(len(one.spans), len(other.spans)) for one, other in pairs])
    links = [np.zeros(shape, dtype=np.float32) for shape in lengths]  # that there are none matters not here
    for of in by_pairs(queries(pairs, encoder), encoder.batch_size):
        asked = batch(of, lengths, links, encoder.pad)
        yield asked.pairs.tolist(), head.weights(asked, read)


def _tensor(array: object, beside: nn.Module) -> torch.Tensor:
    return torch.as_tensor(array, device=next(beside.parameters()).device)


def _alignment(pair: Pair, weights: np.ndarray, threshold: float) -> Alignment:
    source, target = pair
    i, j = np.nonzero(weights > threshold)
    kept = np.round(weights[i, j].astype(float), DIGITS)
    links = tuple(map(Link, i.tolist(), j.tolist(), kept.tolist()))
    return Alignment(source.words, target.words, links, source.spans, target.spans)
