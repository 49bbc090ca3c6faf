"""Checks of the fields that both kinds of settings have, and fields that are read by name."""

from dataclasses import fields
from typing import Any


def check_encoder(encoder: Any, layer: Any, trained: Any) -> None:
    """Check the types of the fields that describe an encoder."""
    if not isinstance(encoder, str):
        raise TypeError(f"encoder must be a name, got {encoder!r}")
    if not isinstance(layer, int):
        raise TypeError(f"layer must be a number, got {layer!r}")
    if not isinstance(trained, str | None):
        raise TypeError(f"trained must be a string or None, got {trained!r}")


def check_fields(data: dict[str, Any], cls: type, ignored: set[str]) -> None:
    """Check that the names in a dictionary are fields of a class, or among names that are ignored."""
    known = {field.name for field in fields(cls)}
    for name in sorted(data.keys() - known - ignored):
        raise ValueError(f"settings must be among {', '.join(sorted(known))}, got {name!r}")


def build_by_name(field: str, data: dict[str, Any] | None, types: dict[str, Any]) -> Any:
    """Return the value that a dictionary with its `name` and its fields describes; None stays None."""
    if data is None:
        return None
    if not isinstance(data, dict) or data.get("name") not in types:
        raise ValueError(f"{field} must hold a name, one of {', '.join(types)}, got {data!r}")
    return types[data["name"]](**{key: value for key, value in data.items() if key != "name"})
