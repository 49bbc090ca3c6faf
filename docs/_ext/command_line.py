"""The directive `command-line`: a section for each command of a Typer app, written from the command itself.

    ```{command-line} otalign.cli:app
    :program: otalign
    ```

A section has the usage, the help text, and a table of options for each help panel.
"""

import inspect
import re
from importlib import import_module
from typing import Any, ClassVar

import typer.main
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ARGUMENTS, OPTIONS = "Arguments", "Options"
LITERAL = re.compile(r"`([^`]+)`|(?<!\S)(--[a-z][a-z0-9-]*)")  # an option keeps its two dashes
SHELL = re.compile(r"\s*(?:\$ |otalign |python -m |accelerate |git |cat )")


class CommandLine(SphinxDirective):
    required_arguments = 1
    option_spec: ClassVar = {"program": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        module, _, name = self.arguments[0].partition(":")
        command = typer.main.get_command(getattr(import_module(module), name))
        program = self.options.get("program", command.name or name)
        context = command.make_context(program, [], resilient_parsing=True)
        return self._sections(command, context)

    def _sections(self, command: Any, context: Any) -> list[nodes.Node]:
        """Return the sections of a group's commands, in the order that the group lists them."""
        sections = []
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            within = type(context)(inner, info_name=name, parent=context)
            if inner.hidden:
                continue
            if hasattr(inner, "list_commands"):
                sections += self._sections(inner, within)
            else:
                sections.append(self._section(inner, within))
        return sections

    def _section(self, command: Any, context: Any) -> nodes.section:
        title = context.command_path
        section = nodes.section(ids=[nodes.make_id(title)], names=[title])
        section += nodes.title(title, title)
        self.state.document.note_explicit_target(section)
        paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
        section += _paragraph(paragraphs[0])
        usage = " ".join([title, *command.collect_usage_pieces(context)])
        section += nodes.literal_block(usage, usage, language="text")
        epilog = inspect.cleandoc(command.epilog or "")
        for paragraph in filter(None, [*paragraphs[1:], *epilog.split("\n\n")]):
            section += _help_block(paragraph)
        for panel, rows in _panels(command, context).items():
            section += nodes.rubric(panel, panel)
            section += _table(rows)
        return section


def _panels(command: Any, context: Any) -> dict[str, list[tuple[str, str]]]:
    """Return each help panel with its rows: how an option is written, and what it does."""
    panels: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(context):
        if getattr(parameter, "hidden", False) or parameter.name == "help":
            continue
        is_argument = parameter.param_type_name == "argument"
        panel = getattr(parameter, "rich_help_panel", None) or (ARGUMENTS if is_argument else OPTIONS)
        row = _row(parameter, context)
        if row is not None:
            panels.setdefault(panel, []).append(row)
    first = [panel for panel in panels if panel == ARGUMENTS]
    return {panel: panels[panel] for panel in (*first, *(panel for panel in panels if panel != ARGUMENTS))}


def _row(parameter: Any, context: Any) -> tuple[str, str] | None:
    record = parameter.get_help_record(context)
    if record is None:
        return None
    written, explained = record
    return re.sub(r"\s+", " ", written), re.sub(r"\s+", " ", explained).strip()


def _table(rows: list[tuple[str, str]]) -> nodes.table:
    group = nodes.tgroup(cols=2)
    group += nodes.colspec(colwidth=35), nodes.colspec(colwidth=65)
    body = nodes.tbody()
    for written, explained in rows:
        row = nodes.row()
        row += nodes.entry("", nodes.paragraph("", "", nodes.literal(written, written)))
        row += nodes.entry("", _paragraph(explained))
        body += row
    group += body
    return nodes.table("", group, classes=["options"])


def _help_block(text: str) -> list[nodes.Node]:
    """Return a paragraph, or a block of code for examples and for text whose lines are kept (`\\b`)."""
    is_kept, text = text.startswith("\b"), text.removeprefix("\b").strip("\n")
    title, _, rest = text.partition("\n")
    if re.fullmatch(r"Examples?:", title.strip()) and rest:
        return [_code(rest)]
    if text.startswith("Example: "):
        return [_code(re.sub(r"\s*\n\s*", " ", text.removeprefix("Example: ")))]
    if is_kept or all(SHELL.match(line) for line in text.splitlines()):
        return [_code(text)]
    return [_paragraph(text)]


def _code(text: str) -> nodes.literal_block:
    text = inspect.cleandoc("\n" + text)
    return nodes.literal_block(text, text, language="sh")


def _paragraph(text: str) -> nodes.paragraph:
    paragraph = nodes.paragraph()
    end = 0
    for match in LITERAL.finditer(text):
        literal = match[1] or match[2]
        paragraph += nodes.Text(text[end : match.start()]), nodes.literal(literal, literal)
        end = match.end()
    paragraph += nodes.Text(text[end:])
    return paragraph


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
