"""The docstrings of the public packages: they exist, and their examples run."""

import doctest
import inspect
import pkgutil
from importlib import import_module

import pytest

# Packages whose modules load without optional dependencies; Ray is one.
PACKAGES = ("otalign.io", "otalign.metrics", "otalign.baselines", "otalign.engines")
OPTIONAL = ("otalign.engines.ray",)


def list_modules() -> list[str]:
    names = []
    for package in PACKAGES:
        path = import_module(package).__path__
        names += [package, *(f"{package}.{module.name}" for module in pkgutil.iter_modules(path))]
    return [name for name in names if name not in OPTIONAL]


@pytest.mark.parametrize("name", list_modules())
def test_the_examples_of_a_module_give_what_they_show(name):
    assert doctest.testmod(import_module(name)).failed == 0


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_function_and_class_has_a_docstring(package):
    module = import_module(package)
    values = [getattr(module, name) for name in module.__all__]
    documented = [value for value in values if inspect.isroutine(value) or inspect.isclass(value)]
    assert [value.__name__ for value in documented if not value.__doc__] == []


def test_there_are_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    count = sum(
        len(test.examples) for name in list_modules() for test in finder.find(import_module(name), name)
    )
    assert count > 20
