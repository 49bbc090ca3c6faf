"""The models that are installed, in this package and in those that register an entry point."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import otalign
from otalign.failures import describe
from otalign.models.card import check_digests
from otalign.settings import SETTINGS
from otalign.suggestions import find_similar, suggest

if TYPE_CHECKING:
    from importlib.metadata import Distribution

GROUP = "otalign.models"  # group of entry points
HOME = Path(__file__).parent
DEFAULT = "small"
HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")  # name of a model on the Hugging Face hub
SEPARATE = {"base": "otalign-base"}  # models of this project in separate packages


@dataclass(frozen=True)
class InstalledModel:
    """A model that is installed.

    Attributes:
        name: Name that `Aligner.load` and `--model` take.
        package: The installed package that it comes from.
        version: Version of the package.
        folder: Folder of its files; None if it cannot be found.
        error: Why it cannot be used; None if it can.
    """

    name: str
    package: str
    version: str
    folder: Path | None = None
    error: str | None = None

    @property
    def origin(self) -> str:
        """Package and version."""
        return f"{self.package} {self.version}"


def list_models() -> list[InstalledModel]:
    """Return the installed models: the default, the others of this package, and those of other packages.

    A model that cannot be used has an `error`.
    """
    shipped = _list_shipped_models()
    registered = sorted(_find_registered_models(), key=lambda model: model.name)
    return [*shipped.values(), *(_check_name(model, shipped, registered) for model in registered)]


def find_model(name: str) -> InstalledModel:
    """Return the installed model of a name.

    Args:
        name: Name of the model.

    Returns:
        The model, which has a folder and no error.

    Raises:
        ValueError: If no model has that name, or it cannot be used.
    """
    model = _find(name)
    if model is None:
        names = [model.name for model in list_models() if not model.error]
        remedy = suggest(name, names) or f"; choose one of {', '.join(names)}"
        raise ValueError(f"there is no model named {name!r}{remedy}")
    return model


def resolve_model(model: str | Path | None) -> str | Path:
    """Return the folder of an installed model, after a check of its digests.

    Args:
        model: Name of a model; None for the default. A folder, and a name that no installed model has, are
            returned unchanged. A folder in the working directory takes precedence over a model of the same
            name if there is a model in it.

    Returns:
        The folder.

    Raises:
        ValueError: If the model cannot be used, its files were changed, it is one of this project that is
            not installed, its name is probably misspelled, or it cannot be a model.
    """
    if model is not None and _holds_model(Path(model)):
        if Path(model).resolve().parent == HOME.resolve():
            check_digests(Path(model))
        return model
    found = _find(DEFAULT if model is None else str(model))
    if found is None or found.folder is None:
        _check_location(str(model))
        names = [one.name for one in list_models() if not one.error] + list(SEPARATE)
        if similar := find_similar(str(model), names):  # no encoder on the hub has such a name
            raise ValueError(f"there is no model or folder named {str(model)!r}; did you mean {similar}?")
        return str(model)
    check_digests(found.folder, found.package)
    return found.folder


def _holds_model(folder: Path) -> bool:
    from otalign.encoders import has_encoder

    return (folder / SETTINGS).is_file() or has_encoder(folder)


def _check_location(model: str) -> None:
    """Check that there may be a model of this folder or name on the hub, before an error asks for torch."""
    folder = Path(model)
    if not model:
        raise ValueError("model must be a name or a folder, got ''; leave it out for the default")
    if folder.is_dir():
        raise ValueError(f"there is no model in {model}: no {SETTINGS}, encoder.onnx or config.json")
    if folder.is_file():
        raise ValueError(f"{model} is a file; give the folder of a model, or its name")
    if not HUB_NAME.fullmatch(model):
        raise ValueError(f"there is no folder {model}, and no model on the Hugging Face hub has such a name")


def _find(name: str) -> InstalledModel | None:
    """Return the installed model of a name, or None if there is none; raise an error if it cannot be used."""
    model = _list_shipped_models().get(name) or next((one for one in list_models() if one.name == name), None)
    if model is None and (package := SEPARATE.get(name)):
        raise ValueError(
            f"the model {name} is not installed; install it with: pip install {package}, or from a clone: "
            f"pip install ./packages/{package}"
        )
    if model and model.error:
        raise ValueError(f"the model {name} of {model.origin} cannot be used: {model.error}")
    return model


def _list_shipped_models() -> dict[str, InstalledModel]:
    names = (path.name for path in HOME.iterdir() if (path / SETTINGS).is_file())
    return {
        name: InstalledModel(name, "otalign", otalign.__version__, HOME / name)
        for name in sorted(names, key=lambda name: (name != DEFAULT, name))
    }


def list_distributions() -> "Iterable[Distribution]":
    """Return all installed packages."""
    from importlib.metadata import distributions  # slow, and not needed for the shipped models

    return distributions()


def _find_registered_models() -> Iterator[InstalledModel]:
    """Yield the models of other packages. What is installed may be damaged in any way."""
    packages: set[str] = set()
    for distribution in list_distributions():
        try:
            if GROUP not in (distribution.read_text("entry_points.txt") or ""):
                continue
        except (OSError, ValueError):
            continue
        try:
            package, version = distribution.metadata["Name"], distribution.version
            entries = distribution.entry_points.select(group=GROUP)
            key = package.lower().replace("_", "-")
        except Exception as error:
            where = distribution.locate_file("")
            yield InstalledModel("?", "?", "?", error=f"metadata in {where} is damaged: {describe(error)}")
            continue
        if key not in packages:  # else it is further back on the path, where Python does not find it
            packages.add(key)
            yield from (_locate(InstalledModel(one.name, package, version), one.value) for one in entries)


def _locate(model: InstalledModel, package: str) -> InstalledModel:
    """Return the model with the folder of the Python package that its entry point names, or with an error."""
    try:
        return replace(model, folder=_find_folder(package))
    except Exception as error:  # other packages can hook into the search
        return replace(model, error=describe(error, brief=True))


def _find_folder(package: str) -> Path:
    """Return the folder of a Python package without importing it or the packages that it is in."""
    top, *inner = package.split(".")
    if not all(part.isidentifier() for part in (top, *inner)):
        raise ValueError(f"its entry point must name a Python package, got {package!r}")
    spec = find_spec(top)
    if spec is None:
        raise ValueError(f"there is no Python package {top!r}")
    for place in spec.submodule_search_locations or ():
        if Path(place, *inner, SETTINGS).is_file():
            return Path(place, *inner)
    raise ValueError(f"the Python package {package!r} holds no {SETTINGS}")


def _check_name(
    model: InstalledModel, shipped: Mapping[str, InstalledModel], registered: Sequence[InstalledModel]
) -> InstalledModel:
    """Return the model, with an error if another one has its name."""
    if model.name in shipped:
        return replace(model, error=f"otalign has its own model {model.name}, which cannot be replaced")
    origins = sorted(other.origin for other in registered if other.name == model.name)
    if len(origins) > 1 and model.error is None:
        error = f"{' and '.join(origins)} provide models of the same name; uninstall all but one of them"
        return replace(model, error=error)
    return model
