"""How much may be asked for at once, so that no request can take the server from the others."""

import math
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Limits:
    """All are at least 1, but for the seconds, which are above 0 and finite."""

    characters: int = 4_000  # of a sentence
    words: int = 256  # of a sentence; time and memory grow with the product of both sides
    pairs: int = 256  # of a request
    body: int = 1 << 20  # bytes of a request
    seconds: float = 30.0  # until a request must have been answered, and until the answer must have been read
    waiting: int = 1_024  # pairs of all requests that are not begun
    connections: int = 512  # open at once, in one process
    headers: int = 100  # of a request
    header_bytes: int = 1 << 14  # of a request, with its address
    header_seconds: float = 10.0  # until the headers of a request must have come
    idle_seconds: float = 30.0  # that a connection may wait for its next request

    def __post_init__(self):
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name.endswith("seconds"):
                if not (value > 0 and math.isfinite(value)):
                    raise ValueError(f"{field.name} must be above 0 and finite, got {value}")
            elif value < 1:
                raise ValueError(f"{field.name} must be above 0, got {value}")
