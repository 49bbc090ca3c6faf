"""The help of every command, with panels, summaries and examples; and errors that name options."""

import os
import pty
import re
import shlex
import subprocess
import sys
from typing import get_args

import pytest
import typer

from otalign import cli
from otalign.cli import app
from otalign.cli.panels import PANELS
from otalign.cli.usage_errors import name_options
from otalign.problems import PARAMETERS, PROBLEMS, ProblemName

GROUP = typer.main.get_command(app)
COMMANDS = {
    **{(name,): command for name, command in GROUP.commands.items() if name != "corpus"},
    **{("corpus", name): command for name, command in GROUP.commands["corpus"].commands.items()},
}
OURS = [path for path in COMMANDS if path != ("train",)]


def context(path):
    return COMMANDS[path].make_context(" ".join(("otalign", *path)), [], resilient_parsing=True)


def print_help(*path: str, **options) -> subprocess.CompletedProcess:
    environment = {**os.environ, "COLUMNS": "80", "TERM": "xterm-256color"}
    return subprocess.run(
        [sys.executable, "-m", "otalign", *path, "--help"], env=environment, check=True, **options
    )


@pytest.mark.parametrize("path", OURS, ids="-".join)
def test_every_option_has_a_phrase_that_says_what_it_sets(path):
    for param in COMMANDS[path].params:
        assert param.help, param.name
        assert not re.match(r"(Of|That|To|Whose|In which)\b", param.help), param.help
        assert param.help[0].isupper()
        assert param.help.endswith("."), param.help
        assert "[" not in param.help  # which rich would take for markup
        if param.param_type_name == "option" and param.rich_help_panel is not None:
            assert param.rich_help_panel in PANELS


def test_the_help_of_the_program_has_the_summary_of_each_command():
    assert {
        name: command.short_help or command.help for name, command in GROUP.commands.items()
    } == cli.COMMANDS


def test_the_help_of_the_program_imports_no_command():
    code = """import sys; sys.argv[1:] = ["--help"]
try: __import__("otalign.cli").cli.main()
finally: assert not {"numpy", "rich", "pydantic", "otalign.cli.align"} & set(sys.modules)"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("path", COMMANDS, ids="-".join)
def test_a_summary_fits_its_line(path):
    longest = max(len(name) for name in GROUP.commands)
    assert len(COMMANDS[path].get_short_help_str(limit=200)) <= 80 - longest - 6


@pytest.mark.parametrize("path", COMMANDS, ids="-".join)
def test_every_example_is_a_command_that_can_be_run(path):
    lines = [line.strip() for line in COMMANDS[path].epilog.split("Examples:")[1].strip().splitlines()]
    assert lines
    for line in lines:
        assert len(line) <= 76 or path not in OURS  # it is not wrapped at 80 columns
        for part in line.split(" | "):
            program, *arguments = shlex.split(part)
            assert program == "otalign"
            names = tuple(arguments[: 2 if arguments[0] == "corpus" else 1])
            COMMANDS[names].make_context("otalign", arguments[len(names) :])
    assert any(line.startswith(" ".join(("otalign", *path))) for line in lines)


REQUIRED = [path for path, command in COMMANDS.items() if any(param.required for param in command.params)]


@pytest.mark.parametrize("path", REQUIRED, ids="-".join)
def test_a_missing_argument_is_named_in_one_line(path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["otalign", *path])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 2
    message = capsys.readouterr().err
    assert message.startswith("otalign: missing argument")
    assert message.count("\n") == 1


def test_help_is_plain_in_a_pipe_and_has_a_section_for_each_panel():
    shown = print_help("align", capture_output=True, text=True).stdout
    assert shown.startswith("Usage: otalign align [OPTIONS] [SOURCE TARGET | FILE]\n")
    titles = [line.rstrip(":") for line in shown.splitlines() if re.fullmatch(r"\S.*:", line)]
    expected = [panel for panel in PANELS if panel not in ("Search", "Scoring", "Server", "Server limits")]
    assert titles == ["Arguments", *expected, "Options", "Examples"]
    assert not set(shown) & set("╭│╰\x1b")
    assert max(map(len, shown.splitlines())) <= 80


def test_help_has_panels_and_colours_on_a_terminal():
    screen, terminal = pty.openpty()
    print_help("models", stdout=terminal, stderr=terminal)
    shown = os.read(screen, 1 << 16).decode()
    assert "\x1b[" in shown
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert "╭─ Arguments" in plain
    assert "otalign models small" in plain
    os.close(screen)
    os.close(terminal)


def test_problems_and_their_parameters_come_from_the_registry():
    assert get_args(ProblemName) == tuple(PROBLEMS)
    for path in (("align",), ("project",), ("diff",)):
        options = {param.name: param for param in COMMANDS[path].params}
        for name, spec in PARAMETERS.items():
            assert spec.parameter.description.rstrip(".") in options[name].help
            assert options[name].show_default == f"{spec.parameter.default:g}"
        for name in PROBLEMS:
            assert f"{name} (" in options["problem"].help


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("tau must be positive, got -1", "--tau must be positive, got -1"),
        (
            "tau applies only to problem uot; remove it or choose uot",
            "--tau applies only to --problem uot; remove it or choose uot",
        ),
        ("tau applies only to problem='uot'; remove it", "--tau applies only to --problem uot; remove it"),
        ("no folder; give data=, or set X", "no folder; give --data, or set X"),
        ("expected at most 9 (max_words)", "expected at most 9 (--max-words)"),
        ("tau.txt has 3 lines; tau=3 is kept", "tau.txt has 3 lines; tau=3 is kept"),
    ],
)
def test_errors_name_options_as_they_are_typed(message, expected):
    options = {"tau": "--tau", "problem": "--problem", "data": "--data", "max_words": "--max-words"}
    assert name_options(message, options) == expected
