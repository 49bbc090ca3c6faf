"""The docstrings of the public packages: they say what goes in and what comes out, and their examples run."""

import doctest
import inspect
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import otalign

PACKAGES = (
    *("otalign", "otalign.baselines", "otalign.diff", "otalign.engines", "otalign.io", "otalign.metrics"),
    *("otalign.ot", "otalign.training", "otalign.tuning"),
)
NOT_RUN = {
    "otalign.io.load": "reads a corpus that is not part of the package",
    "otalign.training.refit": "trains an encoder that is not part of the package",
    "otalign.training.train": "trains an encoder that is not part of the package",
}


def list_modules_with_examples() -> list[str]:
    root = Path(otalign.__file__).parent
    files = [file for file in sorted(root.rglob("*.py")) if ">>> " in file.read_text(encoding="utf-8")]
    paths = [file.relative_to(root.parent).with_suffix("").parts for file in files]
    return [".".join(part for part in path if part != "__init__") for path in paths]


def list_public(package: str) -> dict[str, Any]:
    """Return the public functions and classes of a package by their full names."""
    module = import_module(package)
    values = {f"{package}.{name}": getattr(module, name) for name in module.__all__}
    return {
        name: value for name, value in values.items() if inspect.isroutine(value) or inspect.isclass(value)
    }


def list_methods(public: dict[str, Any]) -> dict[str, Callable[..., Any]]:
    """Return the public methods that the classes define, but for those that a base class has too."""
    found = {}
    for owner, type_ in public.items():
        for name, value in vars(type_).items() if inspect.isclass(type_) else ():
            method = getattr(value, "__func__", value)
            is_method = inspect.isfunction(method) and method.__qualname__.startswith(f"{type_.__name__}.")
            if is_method and name[0] != "_" and not any(name in vars(base) for base in type_.__mro__[1:]):
                found[f"{owner}.{name}"] = method
    return found


def list_missing_parameters(value: Any) -> list[str]:
    """Return the parameters that neither `Args:` nor `Attributes:` describes."""
    sections = re.findall(
        r"^(?:Args|Attributes):\n((?:    .*\n|\n)+)", inspect.getdoc(value) + "\n", re.MULTILINE
    )
    described = re.findall(r"^    \**(\w+):", "".join(sections), re.MULTILINE)
    return sorted(inspect.signature(value).parameters.keys() - {"self", "cls", *described})


def says_what_it_returns(value: Any) -> bool:
    doc, annotation = inspect.getdoc(value) or "", inspect.signature(value).return_annotation
    return annotation is None or bool(re.search(r"^(?:Returns|Yields):$", doc, re.MULTILINE))


def list_examples(value: Any) -> list[doctest.Example]:
    """Return the examples of a docstring, but for those that only import."""
    examples = doctest.DocTestParser().get_examples(value.__doc__ or "")
    return [example for example in examples if not example.source.startswith(("import ", "from "))]


@pytest.mark.parametrize("name", list_modules_with_examples())
def test_the_examples_of_a_module_give_what_they_show(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # for the files that examples write
    assert doctest.testmod(import_module(name)).failed == 0


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_describe_every_parameter(package):
    public = list_public(package)
    values = public | list_methods(public)
    assert {
        name: missing for name, value in values.items() if (missing := list_missing_parameters(value))
    } == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_describe_what_is_returned(package):
    public = list_public(package)
    functions = {name: value for name, value in public.items() if not inspect.isclass(value)}
    methods = {  # a method whose summary says what it returns needs no section
        name: value
        for name, value in list_methods(public).items()
        if not value.__doc__.startswith(("Return", "Yield"))
    }
    assert [name for name, value in (functions | methods).items() if not says_what_it_returns(value)] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_have_examples_that_are_run(package):
    examples = {name: list_examples(value) for name, value in list_public(package).items()}
    run = {name: [one for one in of if not one.options.get(doctest.SKIP)] for name, of in examples.items()}
    assert [name for name, of in examples.items() if not of] == []
    assert {name for name, of in run.items() if not of} == {name for name in NOT_RUN if name in examples}
