"""Access to a server: the host names it answers to, the origins of pages, and the token."""

import ipaddress
import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

LOOPBACK = ("localhost", "127.0.0.1", "::1")
EVERYWHERE = ("0.0.0.0", "::")  # addresses to listen at, which are not host names
TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")  # what may follow "Bearer" (RFC 6750)


def is_loopback(host: str) -> bool:
    """Return whether an address is reachable from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def allowed_hosts(host: str, names: Iterable[str]) -> frozenset[str] | None:
    """Return the host names that a server answers to.

    Args:
        host: Address that it listens at.
        names: Further names.

    Returns:
        The names in lower case: those of this machine, the address itself and `names`. None for any name, if
        other machines can reach it and `names` is empty.
    """
    names = {name.strip("[]").lower() for name in names}
    if not names and not is_loopback(host):
        return None
    return frozenset({*LOOPBACK, host, *names} - {*EVERYWHERE})


def check_origin(origin: str) -> str:
    """Check an origin of pages, in the form of browsers: `scheme://host[:port]`, or `*` for any.

    Args:
        origin: The origin.

    Returns:
        The origin in lower case.

    Raises:
        ValueError: If it is not valid, so that no browser would send it.
    """
    if origin == "*":
        return origin
    try:
        parts = urlsplit(origin)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    normalized = f"{parts.scheme}://{host}" + (f":{port}" if port is not None else "")
    if parts.scheme not in ("http", "https") or not parts.hostname or normalized != origin.lower():
        raise ValueError(
            f"--allow-origin must be like https://example.org or http://localhost:3000, without a path or a "
            f"trailing slash, or * for any, got {origin!r}"
        )
    return normalized


def read_token(path: Path) -> str:
    """Read the token that clients must send.

    Args:
        path: File with the token on its only line.

    Returns:
        The token.

    Raises:
        ValueError: If the file is empty, or its content cannot be sent as a token.
        OSError: If the file cannot be read.
    """
    token = path.read_text(encoding="utf-8").strip()
    if not token:
        raise ValueError(f"{path} is empty; write a token into it, for example with: openssl rand -hex 32")
    if not TOKEN.fullmatch(token):
        raise ValueError(f"{path} must hold one token of letters, digits and -._~+/ on one line")
    return token
