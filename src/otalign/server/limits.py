"""Limits on requests, so that no client can block the others."""

import math
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Limits:
    """Limits of a server.

    Attributes:
        characters: Characters of a sentence.
        words: Words of a sentence; time and memory grow with the product of both sides.
        pairs: Pairs of a request.
        body: Bytes of a request.
        seconds: Seconds to answer a request, and for the client to read the answer.
        waiting: Pairs in the queue.
        queue_seconds: Maximum expected wait for other requests, in seconds; a longer one is refused at once.
        connections: Open connections of one process.
        headers: Number of headers of a request.
        header_bytes: Bytes of the headers of a request, with its address.
        header_seconds: Seconds to receive the headers of a request.
        idle_seconds: Seconds that a connection may wait for its next request.
    """

    characters: int = 4_000
    words: int = 256
    pairs: int = 256
    body: int = 1 << 20
    seconds: float = 30.0
    waiting: int = 1_024
    queue_seconds: float = 5.0
    connections: int = 512
    headers: int = 100
    header_bytes: int = 1 << 14
    header_seconds: float = 10.0
    idle_seconds: float = 30.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name.endswith("seconds"):
                if not (value > 0 and math.isfinite(value)):
                    raise ValueError(f"{field.name} must be above 0 and finite, got {value}")
            elif value < 1:
                raise ValueError(f"{field.name} must be above 0, got {value}")
