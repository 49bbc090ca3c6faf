"""The supervised peers with the interface of `Aligner`: an encoder, a trained head, and settings.

TrainedPeer.load("crf-folder").align_many(pairs)

Saved, a peer is a folder with the files of the encoder, `peer.safetensors` and `peer.json`. It needs torch.
It gives no null confidences.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import otalign
from experiments.peers.semi_crf import SemiCrf
from experiments.peers.settings import PEER, Peer, PeerSettings, load_settings
from experiments.peers.span_prediction import SpanPrediction
from otalign.alignment import Alignment, Link
from otalign.arrays import is_finite
from otalign.atomic import write_atomic
from otalign.encoders.chunks import split_into_chunks
from otalign.encoders.transformers import Transformers
from otalign.failures import describe
from otalign.link_arrays import DIGITS
from otalign.method import Method, format_signature
from otalign.text.words import Pair, Text

WEIGHTS = "peer.safetensors"
HEADS: dict[Peer, type[SemiCrf] | type[SpanPrediction]] = {
    "semi-crf": SemiCrf,
    "span-prediction": SpanPrediction,
}


@dataclass(frozen=True, eq=False)
class TrainedPeer(Method):
    """A trained peer. It is immutable, like `Aligner`."""

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
        """Load a peer from a folder; a threshold replaces the one that was chosen on its dev set."""
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
        """All settings that are needed to reproduce a result, as `key:value|…`."""
        return format_signature(self.settings.signature_fields())

    def align_many(self, pairs: Iterable[tuple[Text, Text]]) -> Iterator[Alignment]:
        """Align any number of pairs lazily, in order, a chunk at a time."""
        for chunk in split_into_chunks(pairs):
            for pair, scores in zip(chunk, self._score_links(chunk), strict=True):
                yield _make_alignment(pair, scores, self.settings.threshold)

    def _score_links(self, pairs: Sequence[Pair]) -> list[np.ndarray]:
        """Score all word pairs of each pair, (n, m)."""
        found = [np.zeros((len(one.spans), len(other.spans)), dtype=np.float32) for one, other in pairs]
        for indices, scores in self.head.score_pairs(self.encoder, pairs):
            if not is_finite(scores):
                raise ValueError(f"{self.encoder.name} gives scores that are not finite; it is damaged")
            for k, links in zip(indices, scores, strict=True):
                n, m = found[k].shape
                found[k] = links[:n, :m]
        return found


def _make_alignment(pair: Pair, scores: np.ndarray, threshold: float) -> Alignment:
    source, target = pair
    i, j = np.nonzero(scores > threshold)
    weights = np.round(scores[i, j].astype(float), DIGITS)
    links = tuple(map(Link, i.tolist(), j.tolist(), weights.tolist()))
    return Alignment(source.words, target.words, links, source.spans, target.spans)
