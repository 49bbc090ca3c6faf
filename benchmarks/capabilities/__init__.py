"""The behaviour suite: capabilities of aligners, each with generated cases.

`behaviour.py` beside this folder runs it.
"""

from importlib import import_module

from capabilities.cases import FEWEST, HALVES, Capability, Case, Half

__all__ = ["FEWEST", "HALVES", "Capability", "Case", "Half", "load_capabilities"]

MODULES = (
    "synonyms",
    "forms",
    "variants",
    "order",
    "phrases",
    "changes",
    "contrasts",
    "noise",
    "texts",
)


def load_capabilities() -> list[Capability]:
    """All capabilities, group by group.

    Raises:
        ValueError: Two capabilities have the same name.
    """
    found = [one for name in MODULES for one in import_module(f"capabilities.templates.{name}").CAPABILITIES]
    names = [one.name for one in found]
    if len(set(names)) < len(names):
        raise ValueError(f"names of capabilities must be unique, got {sorted(names)}")
    return found
