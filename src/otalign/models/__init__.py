"""Trained aligners, called models, by name: those of this package and those of other installed packages.

A package provides a model by an entry point in the group `otalign.models`: its name is that of the model, its
value a Python package. The folder of that package holds the files that `Aligner.save` writes, a model card
(README.md), the licence of the weights (LICENSE), and `measured.json`: the test figures of the model, and the
digests of its files. Finding a model runs no code of its package.
"""

from otalign.models.card import (
    CARD,
    LICENCE,
    MEASURED,
    Measurements,
    ModelCard,
    check_digests,
    compute_digests,
    read_languages,
    write_measurements,
)
from otalign.models.installed import DEFAULT, InstalledModel, find_model, list_models, resolve_model

__all__ = [
    "CARD",
    "DEFAULT",
    "LICENCE",
    "MEASURED",
    "InstalledModel",
    "Measurements",
    "ModelCard",
    "check_digests",
    "compute_digests",
    "find_model",
    "list_models",
    "read_languages",
    "resolve_model",
    "write_measurements",
]
