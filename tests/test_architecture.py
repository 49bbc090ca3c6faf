"""Imports: light modules stay light, and dependencies point one way."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import otalign

PACKAGE = Path(otalign.__file__).parent
HEAVY = {
    "torch",
    "triton",
    "tokenizers",
    "ot",
    "scipy",
    "transformers",
    "safetensors",
    "accelerate",
    "matplotlib",
    "onnxruntime",
    "fastapi",
    "pydantic",
    "uvicorn",
    "ray",
    "pyarrow",
    "jax",
    "pandas",
    "spacy",
}

# Each part may import those before it. The entry points, `cli` and `integrations` may import all of them.
ORDER = [
    *(
        "arrays",
        "atomic",
        "failures",
        "collector",
        "suggestions",
        "quantities",
        "processes",
        "shared_arrays",
        "untrusted",
        "progress",
        "text",
        "ot",
        "validation",
        "phrases",
        "alignment",
        "link_arrays",
        "gold",
        "gloss",
        "projection",
        "io",
        "metrics",
    ),
    *("method", "encoders", "languages", "problems", "settings", "scoring", "models", "aligner", "diff"),
    *("render", "baselines", "engines", "tuning", "training", "server"),
]


# An alignment shows itself, in a notebook and as a figure: it asks render for it, but only when it is shown.
UPWARDS_WHEN_CALLED = {"alignment": {"render"}}


def modules_loaded_by(statement: str) -> set[str]:
    code = f"{statement}; import sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in loaded.stdout.split()}


def test_importing_otalign_takes_no_heavy_library_along():
    assert not modules_loaded_by("import otalign, otalign.text.words, otalign.alignment, otalign.io") & (
        HEAVY | {"numpy"}
    )
    assert not modules_loaded_by("import otalign.ot") & HEAVY


def test_solving_takes_no_heavy_library_along():
    solving = (
        "import numpy as np; from otalign.ot import solve, Balanced; "
        "solve(np.eye(2), np.ones(2), np.ones(2), Balanced())"
    )
    assert not modules_loaded_by(solving) & HEAVY


def test_the_command_line_takes_no_web_framework_along():
    assert not modules_loaded_by("import otalign.cli") & {"fastapi", "uvicorn", "pydantic", "starlette"}


def test_aligning_two_sentences_takes_only_what_runs_the_model_along(monkeypatch, tmp_path):
    monkeypatch.setenv("OTALIGN_DATA", str(tmp_path))  # a path, which Typer would convert by Pydantic
    align = (
        "import sys; sys.exit = print; sys.argv = ['otalign', 'align', 'It rains.', 'It is raining.']; "
        "from otalign.__main__ import main; main()"
    )
    assert modules_loaded_by(align) & HEAVY == {"onnxruntime", "safetensors", "tokenizers"}


def our_imports(file: Path, inside_functions: bool = True) -> set[str]:
    """The parts of otalign that a file imports, by the names right below the package."""
    names, tree = [], ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree) if inside_functions else tree.body:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports name the package"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return {name.split(".")[1] for name in names if name.startswith("otalign.")}


def test_every_part_has_its_place():
    modules, packages = PACKAGE.glob("*.py"), PACKAGE.glob("*/__init__.py")
    parts = {*(module.stem for module in modules), *(package.parent.name for package in packages)}
    assert parts == {*ORDER, "__init__", "__main__", "cli", "integrations"}


@pytest.mark.parametrize("part", ORDER)
def test_imports_point_down_the_flow_of_data(part):
    allowed = set(ORDER[: ORDER.index(part) + 1])
    module = PACKAGE / f"{part}.py"
    files = [module] if module.exists() else [*(PACKAGE / part).rglob("*.py")]
    assert files, f"there is no module or package {part}"
    when_called = UPWARDS_WHEN_CALLED.get(part, set())
    for file in files:
        imported = our_imports(file)
        assert imported <= allowed | when_called, f"{file} imports {imported - allowed}"
        assert our_imports(file, inside_functions=False) <= allowed, f"{file} imports too early"
