"""Supply chain and guarantees: pins, workflow, licences, and the page of guarantees."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"
GUARANTEES = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def pins(name: str) -> dict[str, Requirement]:
    """The packages of a file of pins, by name."""
    text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ")
    lines = (HASH.sub("", line).strip() for line in text.splitlines() if not line.startswith("#"))
    found = [Requirement(line) for line in lines if line]
    return {canonicalize_name(one.name): one for one in found}


def test_the_readable_pins_and_those_with_hashes_agree():
    readable, hashed = (
        {name: str(pin.specifier) for name, pin in pins(file).items()}
        for file in ("constraints.txt", "requirements.lock")
    )
    assert readable == hashed, "run make lock"


def test_every_pin_is_exact_and_has_hashes():
    blocks = (ROOT / "requirements.lock").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    for block in blocks:
        if not block.startswith("#"):
            assert HASH.search(block), block[:80]
    for name, pin in pins("requirements.lock").items():
        assert [one.operator for one in pin.specifier] == ["=="], name


def test_every_dependency_of_every_extra_is_pinned_within_its_bounds():
    pinned = pins("constraints.txt")
    for one in map(Requirement, chain(PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())):
        if one.name != "otalign":
            (exact,) = pinned[canonicalize_name(one.name)].specifier
            assert one.specifier.contains(exact.version), f"{one} is pinned to {exact}; run make lock"


def test_pins_name_no_address():
    for name in ("constraints.txt", "requirements.lock"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert not re.search(r"://|--(extra-)?index-url|--find-links", text), name


def test_the_workflow_is_one_by_the_published_schema():
    schema = ["--builtin-schema", "vendor.github-workflows"]
    command = [sys.executable, "-m", "check_jsonschema", *schema, str(WORKFLOW)]
    checked = subprocess.run(command, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_workflow_may_only_read_and_runs_only_what_is_pinned():
    yaml = pytest.importorskip("yaml")
    workflow = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    used = re.findall(r"uses: (\S+)", WORKFLOW.read_text(encoding="utf-8"))
    assert used
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action) for action in used)


def test_the_versions_that_the_package_claims_are_those_that_the_workflow_tests():
    yaml = pytest.importorskip("yaml")
    workflow = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    claimed = re.findall(r"Python :: (3\.\d+)", json.dumps(PROJECT["classifiers"]))
    assert workflow["jobs"]["run"]["strategy"]["matrix"]["python"] == claimed
    assert PROJECT["requires-python"] == f">={claimed[0]}"


def test_every_pinned_package_has_its_licence_on_the_page():
    page = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| ([\w-]+) \|", page, re.M))
    everywhere = {name for name, pin in pins("constraints.txt").items() if pin.marker is None}
    assert everywhere <= listed, f"run make licences: {everywhere - listed}"


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(tests/[\w/]+\.py(?:::\w+)?)`", GUARANTEES))))
def test_each_test_that_the_guarantees_name_exists(name):
    file, _, function = name.partition("::")
    assert (ROOT / file).is_file()
    if function:
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_each_promise_of_the_guarantees_names_a_test():
    promises = re.findall(r"^- (.*?)(?=^- |^\n|^#|\Z)", GUARANTEES, re.M | re.S)
    assert len(promises) > 20
    for promise in promises:
        assert "`tests/" in promise, promise
