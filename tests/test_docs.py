"""The examples of the documents run, and print what is below them; `tests/docs_examples.py` says how."""

import re
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest

from tests.docs_examples import (
    PAGES,
    ROOT,
    Block,
    Runner,
    break_json,
    matches,
    prepared_folder,
    read_blocks,
    run_page,
    write_outputs,
)

RUN = [page for page in PAGES if any(block.is_run for block in read_blocks(page))]
OUTPUT = {"text", "json"}
FILES = {"toml", "markdown", "bibtex"}
PROSE_LIMIT = 120
ITEM = re.compile(r"- |\d+\. ")
MODULES = ("models", "ot", "metrics", "io", "training", "tuning", "diff", "baselines", "engines")
PUBLIC = ["otalign", *(f"otalign.{name}" for name in MODULES)]


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.name)
def test_the_examples_of_a_page_run_and_print_what_it_says(page, tmp_path, tiny_model):
    differences = run_page(page, tmp_path / "examples", lambda: tiny_model("bert"))
    assert not differences, "run make examples, and look at what changed:\n\n" + "\n\n".join(
        map(str, differences)
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_is_run_or_says_why_not(page):
    before: Block | None = None
    for before, block in pairwise([None, *read_blocks(page)]):
        assert block is not None
        is_output = before is not None and before.language == "python" and block.language == "text"
        assert block.language in {"python", "console", "sh"} | OUTPUT | FILES, f"{block} has no language"
        assert block.is_run or block.note or is_output, (
            f"{block} is not run; a comment before it must say why"
        )


@pytest.mark.parametrize("page", [*PAGES, *ROOT.glob("*.md")], ids=lambda page: page.name)
def test_lines_of_prose_are_short(page):
    fenced = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fenced ^= line.startswith("```")
        if not fenced and not line.startswith(("|", "![")):
            assert len(line) <= PROSE_LIMIT, f"{page.name}, line {number}"


@pytest.mark.parametrize("page", [*PAGES, *ROOT.glob("*.md")], ids=lambda page: page.name)
def test_items_of_lists_begin_a_line_and_continue_with_an_indent(page):
    text = re.sub(r"^(```|\$\$).*?^\1", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    assert " - **" not in text, f"{page.name}: an item within a line"
    for paragraph in re.split(r"\n\n+", text):
        first, *lines = paragraph.strip("\n").split("\n")
        if ITEM.match(first):
            assert all(ITEM.match(line) or line.startswith(" ") for line in lines), (
                f"{page.name}: {paragraph}"
            )


def test_the_command_line_reference_keeps_the_dashes_of_options(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs" / "_ext")
    paragraph = import_module("command_line")._paragraph("See --help of `otalign`, or a -b--c.")
    literals = [part.astext() for part in paragraph.children if part.tagname == "literal"]
    assert literals == ["--help", "otalign"]
    assert paragraph.astext() == "See --help of otalign, or a -b--c."


@pytest.mark.parametrize("page", [*PAGES, *ROOT.glob("*.md")], ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_code_in_the_readme_fits_80_columns():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```.*?^```", text, flags=re.M | re.S)
    assert [line for block in blocks for line in block.splitlines() if len(line) > 80] == []


def test_the_readme_can_be_followed_twice_in_the_same_folder(tmp_path, tiny_model):
    blocks = read_blocks(ROOT / "README.md")
    with prepared_folder(tmp_path / "examples", lambda: tiny_model("bert")) as folder:
        for _ in range(2):
            runner = Runner(folder)
            runner.run(blocks)
            assert not runner.differences


def test_commands_that_set_a_transport_problem_name_an_encoder():
    own = re.compile(r"--(layer|tau|fraction|problem|epsilon|distortion) ")
    for page in PAGES:
        commands = page.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
        for command in commands:
            if re.match(r"(\$ )?otalign (align|evaluate|show) ", command) and own.search(command):
                assert "--model " in command, f"{page.name}: {command}"


def test_every_command_has_its_page_in_the_guide():
    navigation = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for command in ("align", "models", "show", "diff", "project", "serve", "evaluate", "tune", "train"):
        assert re.search(rf"^{command}$", navigation, re.M)
        assert f"otalign {command} " in (ROOT / "docs" / f"{command}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_module_has_its_page_in_the_reference(name):
    assert f".. automodule:: {name}\n" in (ROOT / "docs" / "api" / f"{name}.md").read_text(encoding="utf-8")
    assert re.search(rf"^{name}$", (ROOT / "docs" / "api" / "index.md").read_text(encoding="utf-8"), re.M)
    module = import_module(name)
    assert all(hasattr(module, public) for public in module.__all__), "a lazy name cannot be loaded"


def test_outputs_are_compared_with_room_for_rounding():
    assert matches("F1 92.5 …\n", "F1 92.49 links\n")
    assert not matches("F1 92.5\n", "F1 92.9\n")
    assert not matches("1 link\n", "2 links\n")
    assert matches('{"a": [1,\n 0.5], "b": "x…"}', '{"a": [1, 0.51], "b": "xyz"}')
    assert not matches('{"a": 1}', '{"a": 1, "b": 2}')


def test_outputs_can_be_written_into_a_page(tmp_path, tiny_model):
    page = tmp_path / "page.md"
    page.write_text("# Title\n\n```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n\nThe end.\n")
    differences = run_page(page, tmp_path / "examples", lambda: tiny_model("bert"))
    assert [(one.expected, one.printed) for one in differences] == [("3", "2")]
    write_outputs(page, differences)
    assert page.read_text() == "# Title\n\n```python\nprint(1 + 1)\n```\n\n```text\n2\n```\n\nThe end.\n"


def test_long_json_is_broken_between_fields_and_items():
    value = {"a": ["word" * 9] * 3, "b": {"c": 1}}
    assert break_json(value).splitlines() == [
        f'{{"a": ["{"word" * 9}",',
        f'  "{"word" * 9}",',
        f'  "{"word" * 9}"],',
        ' "b": {"c": 1}}',
    ]


def test_a_block_that_is_not_run_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- not run: needs a GPU -->\n```sh\notalign align\n```\n\n```{toctree}\nalign\n```\n")
    (block,) = read_blocks(page)
    assert (block.note, block.is_run, block.text) == (("not run", "needs a GPU"), False, "otalign align\n")


def test_the_citation_file_has_the_version_of_the_package():
    from otalign import __version__

    citation = Path(ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", citation, re.M)[1] == __version__
