"""A model folder is data: no command runs code that comes with one."""

import io
import json
import shutil
from fnmatch import fnmatch
from pathlib import Path

import pytest

from otalign import cli
from otalign.encoders import load
from otalign.encoders.pretrained import PARTS
from otalign.io import write
from tests.training.examples import GOLDS

COMMANDS = {
    "align": ("align", "-", "--from", "tsv", "--model", "evil"),
    "serve": ("serve", "--port", "0", "--model", "evil"),
    "train": (
        "train",
        "gold.jsonl",
        "--dev",
        "gold.jsonl",
        "--from",
        "jsonl",
        "--encoder",
        "evil",
        "-o",
        "out",
    ),
    "tune": ("tune", "gold.jsonl", "--from", "jsonl", "--model", "evil", "-o", "out"),
    "tune all layers": (
        *("tune", "gold.jsonl", "--from", "jsonl", "--model", "evil", "--layers", "all", "-o", "out"),
    ),
    "export": ("export", "evil", "-o", "out"),
}

# For each class that a folder can bring along, a model that transformers itself has no such class for.
EVIL = {
    "config": ("config.json", {"model_type": "evil", "auto_map": {"AutoConfig": "evil.Evil"}}),
    "model": ("config.json", {"model_type": "blip_text_model", "auto_map": {"AutoModel": "evil.Evil"}}),
    "tokenizer": (
        "tokenizer_config.json",
        {"tokenizer_class": "Evil", "auto_map": {"AutoTokenizer": [None, "evil.Evil"]}},
    ),
}


@pytest.fixture
def evil(tiny_model, tmp_path) -> Path:
    """A model's folder with code that leaves a mark when it is run."""
    folder = Path(shutil.copytree(tiny_model("bert"), tmp_path / "evil"))
    (folder / "evil.py").write_text(f"open({str(tmp_path / 'mark')!r}, 'w')\nclass Evil: pass\n")
    return folder


def change(file: Path, **changes: object) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


@pytest.mark.parametrize("part", EVIL)
@pytest.mark.parametrize("command", COMMANDS)
def test_code_that_comes_with_a_model_is_refused(command, part, evil, tmp_path, monkeypatch, capsys):
    file, changes = EVIL[part]
    change(evil / file, **changes)
    if part == "tokenizer":  # for a kind of model that has no tokenizer of its own
        change(evil / "config.json", model_type="vit")
    write(GOLDS, tmp_path / "gold.jsonl", "jsonl")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path / "modules"))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"y\ny\na car\tthe car\n")))
    monkeypatch.setattr("sys.argv", ["otalign", *COMMANDS[command]])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    out, err = capsys.readouterr()
    assert ended.value.code == 2
    assert out == ""
    assert err.count("\n") == 1, err
    if (command, part) != ("tune all layers", "tokenizer"):  # where the configuration comes first
        assert "evil needs custom Python code to be loaded" in err
    assert not (tmp_path / "mark").exists()
    assert not (tmp_path / "modules").exists()


def test_a_kernel_from_the_hub_is_code_too(evil):
    change(evil / "config.json", text_config={"attn_implementation": "someone/kernel"})
    with pytest.raises(
        ValueError, match=r"config\.json: attn_implementation must not be the kernel 'someone"
    ):
        load(evil)


def test_code_that_transformers_has_itself_is_used_instead_of_that_of_a_folder(evil, tmp_path):
    change(evil / "config.json", auto_map={"AutoConfig": "evil.Evil", "AutoModel": "evil.Evil"})
    assert load(evil, 2, device="cpu").layer == 2
    assert not (tmp_path / "mark").exists()


def test_no_code_is_fetched_from_the_hub():
    assert not [pattern for pattern in PARTS for name in ("modeling_x.py", "x.bin") if fnmatch(name, pattern)]
