"""How much may be asked for at once, so that no request can take the server from the others."""

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Limits:
    """All are at least 1, but for the seconds, which are above 0."""

    characters: int = 4_000  # of a sentence
    words: int = 256  # of a sentence; time and memory grow with the product of both sides
    pairs: int = 256  # of a request
    body: int = 1 << 20  # bytes of a request
    seconds: float = 30.0  # until a request must have been answered
    waiting: int = 1_024  # pairs of all requests that are not begun

    def __post_init__(self):
        for field in fields(self):
            value = getattr(self, field.name)
            if not (value > 0 if field.name == "seconds" else value >= 1):
                raise ValueError(f"{field.name} must be above 0, got {value}")
