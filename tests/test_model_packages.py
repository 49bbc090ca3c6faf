"""Models of other packages, which are found by entry points: loaded, listed, checked, and refused."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from otalign import Aligner, models
from otalign.models import CARD, MEASURED, Measurements, ModelCard, find_model, list_models
from otalign.settings import SETTINGS
from tests.docs_examples import read_blocks, run_program

ROOT = Path(__file__).parent.parent
SMALL = ROOT / "src" / "otalign" / "models" / "small"
BASE = ROOT / "packages" / "otalign-base"
GUIDE = ROOT / "docs" / "models.md"
PAIR = ("She gave up smoking last year.", "Last year she quit smoking for good.")
PROJECT = tomllib.loads((BASE / "pyproject.toml").read_text(encoding="utf-8"))["project"]

Install = Callable[..., Path]


@pytest.fixture
def no_packages(monkeypatch, tmp_path) -> Path:
    """A folder on Python's path, and no model of any other package that happens to be installed."""
    from importlib.metadata import distributions

    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)
    found = "otalign.models.installed.list_distributions"
    monkeypatch.setattr(found, lambda: distributions(path=[str(site)]))
    return site


@pytest.fixture
def install(no_packages) -> Install:
    """name of a package, its entry points → the folder of its Python package, which holds no files yet."""

    def install(package: str, entry_points: str, version: str = "1.0") -> Path:
        info = no_packages / f"{package.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[otalign.models]\n{entry_points}\n")
        folder = no_packages / package.replace("-", "_")
        folder.mkdir()
        (folder / "__init__.py").write_text("raise RuntimeError('a model needs no import')\n")
        return folder

    return install


def fill(folder: Path) -> Path:
    """Copy the shipped model into a folder."""
    shutil.copytree(SMALL, folder, dirs_exist_ok=True)
    return folder


def test_a_package_provides_a_model(install):
    folder = fill(install("otalign-legal", "legal = otalign_legal"))
    assert find_model("legal") == models.InstalledModel("legal", "otalign-legal", "1.0", folder)
    assert Aligner.load("legal").align(*PAIR) == Aligner.load().align(*PAIR)
    assert "otalign_legal" not in sys.modules
    with pytest.raises(ValueError, match="there is no model named 'large'; choose one of small, legal"):
        find_model("large")


def test_the_command_line_aligns_with_it(install, tmp_path):
    """In a separate process, which can find the package only through Python's path."""
    folder = fill(install("otalign-legal", "legal = otalign_legal"))
    path = os.pathsep.join(entry for entry in (str(folder.parent), *sys.path) if entry)
    command = [sys.executable, "-m", "otalign", "align", *PAIR, "--model", "legal", "--format", "pharaoh"]
    environment = os.environ | {"PYTHONPATH": path}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (Aligner.load().align(*PAIR).pharaoh() + "\n", "")
    size = f"{ModelCard.read(folder).bytes / 1e6:.1f} MB"
    assert f"\nlegal: {size}, English, Apache-2.0, from otalign-legal 1.0\n" in run_program(["models"])[1]


def test_shards_are_resumed_only_with_the_same_files(install, tmp_path):
    folder = fill(install("otalign-legal", "legal = otalign_legal"))
    pairs, output = tmp_path / "pairs.tsv", str(tmp_path / "links") + "/"
    pairs.write_text("\t".join(PAIR) + "\n")
    command = ["align", str(pairs), "--model", "legal", "-o", output]
    assert run_program(command)[0] == 0
    with (folder / "tokenizer.json").open("a") as file:
        file.write("\n")
    models.write_measurements(folder, {})
    code, said = run_program([*command, "--resume"])
    assert code == 2
    assert "holds another run: its model is " in said


def test_a_model_may_lie_inside_another_package_which_is_not_imported(install):
    folder = install("otalign-legal", "legal = otalign_legal.models.contracts")
    inner = fill(folder / "models" / "contracts")
    assert find_model("legal").folder == inner
    assert "otalign_legal" not in sys.modules


def test_a_package_that_is_on_the_path_twice_is_found_once(install, no_packages, monkeypatch):
    from importlib.metadata import distributions

    fill(install("otalign-legal", "legal = otalign_legal"))
    path = [str(no_packages)] * 2
    monkeypatch.setattr("otalign.models.installed.list_distributions", lambda: distributions(path=path))
    assert [model.name for model in list_models()] == ["small", "legal"]


def test_a_model_without_figures_is_listed_without_them(install):
    folder = fill(install("otalign-legal", "legal = otalign_legal"))
    models.write_measurements(folder, {})
    code, listed = run_program(["models"])
    assert code == 0
    assert listed.endswith(f"trained on {ModelCard.read(folder).trained}\n")
    (report,) = json.loads(run_program(["models", "legal", "--json"])[1])
    assert (report["f1"], report["mean"], report["languages"]) == ({}, None, ["English"])
    assert (report["package"], report["version"], report["error"]) == ("otalign-legal", "1.0", None)


def test_check_reports_for_each_model_whether_its_files_are_unchanged(install):
    folder = fill(install("otalign-legal", "legal = otalign_legal"))
    whole = f"{len(Measurements.read(SMALL).digests)} files match their digests"
    assert run_program(["models", "--check"]) == (0, f"small: {whole}\nlegal: {whole}\n")
    (folder / "head.safetensors").write_bytes(b"damaged")
    code, checked = run_program(["models", "--check"])
    assert code == 1
    damaged = f"{folder / 'head.safetensors'} is not the file that otalign-legal was released with"
    assert checked.splitlines() == [
        f"small: {whole}",
        f"legal: {damaged}; reinstall otalign-legal",
    ]
    assert run_program(["models", "small", "--check"])[0] == 0
    (report,) = json.loads(run_program(["models", "legal", "--check", "--json"])[1])
    assert report["error"].startswith(damaged)
    with pytest.raises(ValueError, match="not the file that otalign-legal was released with"):
        Aligner.load("legal")


@pytest.mark.parametrize(
    ("entry_point", "error"),
    [
        ("legal = no_such_package", "there is no Python package 'no_such_package'"),
        ("legal = otalign_legal", "the Python package 'otalign_legal' holds no otalign.json"),
        ("legal = otalign_legal.inner", "the Python package 'otalign_legal.inner' holds no otalign.json"),
        ("legal = json.decoder", "the Python package 'json.decoder' holds no otalign.json"),
        ("legal = otalign_legal:folder", "must name a Python package, got 'otalign_legal:folder'"),
        ("legal = ../otalign_legal", "must name a Python package, got '../otalign_legal'"),
        ("legal =", "must name a Python package, got ''"),
    ],
)
def test_a_broken_entry_point_is_listed_and_hinders_no_other_model(install, entry_point, error):
    install("otalign-legal", entry_point)
    fill(install("otalign-sound", "sound = otalign_sound"))
    assert [model.name for model in list_models() if not model.error] == ["small", "sound"]
    code, listed = run_program(["models"])
    assert code == 0
    assert f"legal: from otalign-legal 1.0, cannot be used: {error}" in listed.replace("its entry point ", "")
    assert models.resolve_model("sound") == find_model("sound").folder
    with pytest.raises(ValueError, match=r"the model legal of otalign-legal 1\.0 cannot be used: "):
        models.resolve_model("legal")
    assert run_program(["models", "--check"])[0] == 1


def test_damaged_metadata_is_listed_and_hinders_no_other_model(install, no_packages):
    install("otalign-legal", "no equals sign")
    (no_packages / "other-1.0.dist-info").mkdir()
    (no_packages / "other-1.0.dist-info" / "entry_points.txt").write_bytes(b"\xff[otalign.models]\n")
    assert models.resolve_model("small") == SMALL
    (small, damaged) = list_models()
    assert (small.name, small.error) == ("small", None)
    assert f"metadata in {no_packages} is damaged" in (damaged.error or "")


@pytest.mark.parametrize("name", [SETTINGS, MEASURED, CARD])
def test_a_model_without_one_of_its_files_is_listed_with_an_error(install, name):
    folder = fill(install("otalign-legal", "legal = otalign_legal"))
    (folder / name).unlink()
    code, listed = run_program(["models"])
    assert code == 0
    assert "legal: from otalign-legal 1.0, cannot be used: " in listed
    assert name in listed


def test_two_packages_with_one_name_are_both_named(install):
    for package in ("otalign-law", "otalign-legal"):
        fill(install(package, f"legal = {package.replace('-', '_')}"))
    both = "otalign-law 1.0 and otalign-legal 1.0 provide models of the same name; uninstall all but one"
    with pytest.raises(ValueError, match=both):
        Aligner.load("legal")
    assert run_program(["models"])[1].count(both) == 2
    assert models.resolve_model(None) == SMALL


def test_a_model_of_otalign_itself_cannot_be_replaced(install):
    fill(install("otalign-other", "small = otalign_other"))
    assert find_model("small").folder == SMALL
    assert models.resolve_model("small") == models.resolve_model(None) == SMALL
    assert "small: from otalign-other 1.0, cannot be used: otalign has its own" in run_program(["models"])[1]


def test_a_separate_model_that_is_not_installed_says_how_to_install_it(no_packages, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    message = (
        "the model base is not installed; install it with: pip install otalign-base, or from a clone: "
        "pip install ./packages/otalign-base"
    )
    with pytest.raises(ValueError, match=message):
        Aligner.load("base")
    for command in (["align", *PAIR, "--model", "base"], ["models", "base"]):
        assert run_program(command) == (2, f"otalign: {message}\n")
    fill(tmp_path / "base")
    assert Aligner.load("base").align(*PAIR) == Aligner.load().align(*PAIR)


def test_a_folder_with_a_model_comes_before_a_model_of_the_same_name(install, tmp_path, monkeypatch):
    installed = fill(install("otalign-legal", "legal = otalign_legal"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "legal").mkdir()
    assert models.resolve_model("legal") == installed  # the other folder has nothing to do with models
    fill(tmp_path / "legal")
    assert models.resolve_model("legal") == "legal"


def test_the_package_of_base_provides_it(install):
    (entry_point,) = PROJECT["entry-points"]["otalign.models"].items()
    assert entry_point == ("base", "otalign_base")
    folder = fill(install(PROJECT["name"], " = ".join(entry_point), PROJECT["version"]))
    assert find_model("base").folder == folder
    main = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (PROJECT["license"], PROJECT["requires-python"]) == ("Apache-2.0", main["requires-python"])
    size = sum(file.stat().st_size for file in (BASE / "src" / "otalign_base").iterdir() if file.is_file())
    assert size <= 85e6


def test_the_package_of_the_guide_provides_its_model(install):
    (block,) = (block for block in read_blocks(GUIDE) if block.language == "toml")
    project = tomllib.loads(block.text)["project"]
    (entry_point,) = project["entry-points"]["otalign.models"].items()
    folder = fill(install(project["name"], " = ".join(entry_point), project["version"]))
    assert find_model(entry_point[0]).folder == folder


@pytest.mark.usefixtures("no_packages")
def test_the_guide_shows_what_is_listed():
    blocks = [
        block for block in read_blocks(GUIDE) if block.note == ("checked by", f"tests/{Path(__file__).name}")
    ]
    assert len(blocks) == 2
    for block in blocks:
        command, *expected = block.text.splitlines()
        printed = run_program(command.split()[2:])[1]
        assert [line.rstrip() for line in printed.splitlines()] == expected[: len(printed.splitlines())]


def test_figures_are_recorded_with_the_digests_and_written_into_the_card(tmp_path):
    folder = fill(tmp_path / "legal")
    card = "---\nlanguage: [en, de]\nlicense: mit\n---\n# legal\n\n{}\n\n## Limits\n"
    empty = "<!-- measured -->\n<!-- end of measured -->"
    (folder / CARD).write_text(card.format(empty), encoding="utf-8")
    for f1 in ({"our contracts sure": 0.9}, {"our contracts sure": 0.914, "our contracts possible": 0.87}):
        measured = models.write_measurements(folder, f1)
        assert measured == Measurements.read(folder)
        read = ModelCard.read(folder)
        assert (read.languages, read.licence, read.measured) == (("en", "de"), "mit", measured)
        tables = f"<!-- measured -->\n{read.format_tables()}\n<!-- end of measured -->"
        assert (folder / CARD).read_text(encoding="utf-8") == card.format(tables)
    assert "| our contracts | 91.4 | 87.0 |\n| mean of all columns | **89.2** |" in read.format_tables()
    models.check_digests(folder)


@pytest.mark.parametrize(
    ("f1", "digests", "message"),
    [
        ({"contracts": 0.9}, {}, "by test set and sure or possible, got 'contracts'"),
        ({"contracts sure": 91.3}, {}, "f1 must be from 0 to 1, got 91.3"),
        ({"contracts sure": "0.9"}, {}, "f1 must be from 0 to 1, got '0.9'"),
        ({}, {"../head.safetensors": ""}, "digests by file name"),
        ({}, {"head.safetensors": None}, "digests by file name"),
    ],
)
def test_figures_that_cannot_be_are_refused(f1, digests, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        Measurements(f1, digests)
    (tmp_path / MEASURED).write_text(json.dumps({"f1": f1, "sha256": digests}))
    with pytest.raises(ValueError, match=r"measured\.json is not valid: "):
        Measurements.read(tmp_path)
