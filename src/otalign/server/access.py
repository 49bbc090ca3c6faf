"""Who may ask a server: by which names it is reached, from pages of which origins, and with which token."""

import ipaddress
import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

LOOPBACK = ("localhost", "127.0.0.1", "::1")
EVERYWHERE = ("0.0.0.0", "::")  # addresses to listen at, which are no names to be asked by
TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")  # what may follow "Bearer" (RFC 6750)


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def allowed_hosts(host: str, names: Iterable[str]) -> frozenset[str] | None:
    """Find the names that a server which listens at `host` answers to.

    Returns:
        The names in lower case: those of this machine, the address itself and `names`. None is any name:
        that of a server which other machines reach, if `names` is empty.
    """
    names = {name.strip("[]").lower() for name in names}
    if not names and not is_loopback(host):
        return None
    return frozenset({*LOOPBACK, host, *names} - {*EVERYWHERE})


def check_origin(origin: str) -> str:
    """Check an origin of pages, as browsers write it: `scheme://host[:port]`, or `*` for any.

    Returns:
        The origin in lower case.

    Raises:
        ValueError: It is not one, so no browser would ever send it.
    """
    if origin == "*":
        return origin
    try:
        parts = urlsplit(origin)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    written = f"{parts.scheme}://{host}" + (f":{port}" if port is not None else "")
    if parts.scheme not in ("http", "https") or not parts.hostname or written != origin.lower():
        raise ValueError(
            f"--allow-origin must be like https://example.org or http://localhost:3000, without a path or a "
            f"slash at its end, or * for any, got {origin!r}"
        )
    return written


def read_token(path: Path) -> str:
    """Read the token that clients must send from the only line of a file.

    Raises:
        ValueError: The file is empty or holds something that cannot be sent as a token.
        OSError: The file cannot be read.
    """
    token = path.read_text(encoding="utf-8").strip()
    if not token:
        raise ValueError(f"{path} is empty; write a token into it, such as that of: openssl rand -hex 32")
    if not TOKEN.fullmatch(token):
        raise ValueError(f"{path} must hold one token of letters, digits and -._~+/ on one line")
    return token
