"""Settings of a trained peer, for its folder and its signature."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from otalign.untrusted import read_json

Peer = Literal["semi-crf", "span-prediction"]
PEERS: tuple[Peer, ...] = get_args(Peer)
PEER = "peer.json"  # settings of a trained peer, in its folder


@dataclass(frozen=True, kw_only=True)
class PeerSettings:
    """The settings of a trained peer. A link must score more than the threshold."""

    method: Peer
    encoder: str
    layer: int
    threshold: float
    trained: str  # corpora, level of the links, and seed

    def __post_init__(self):
        if self.method not in PEERS:
            raise ValueError(f"method must be one of {', '.join(PEERS)}, got {self.method!r}")
        if not isinstance(self.encoder, str) or not isinstance(self.layer, int):
            raise TypeError(
                f"encoder must be a name and layer a number, got {self.encoder!r}, {self.layer!r}"
            )
        if not 0 <= self.threshold <= 1:
            raise ValueError(f"threshold must be from 0 to 1, got {self.threshold}")

    def replace(self, **changes: Any) -> "PeerSettings":
        """Return a copy with other values."""
        return replace(self, **changes)

    def signature_fields(self) -> dict[str, object]:
        """Return the fields of a signature."""
        return asdict(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON-serializable values."""
        return asdict(self)


def is_peer(folder: str | Path | None) -> bool:
    """Return whether a folder contains a trained peer."""
    return folder is not None and (Path(folder) / PEER).is_file()


def load_settings(folder: Path) -> PeerSettings:
    """Return the settings of the trained peer in a folder."""
    if not is_peer(folder):
        raise ValueError(f"{folder} must be the folder of a trained peer, but it holds no {PEER}")
    try:
        data = read_json(folder / PEER)
        data.pop("version", None)
        return PeerSettings(**data)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{folder / PEER} is not what TrainedPeer.save writes: {error}") from error
