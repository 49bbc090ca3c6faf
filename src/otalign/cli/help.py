"""Help of the commands: panels and colours on a terminal, plain text in a pipe.

Everything comes from the docstring of a command: its first line is the summary, and what follows `Examples:`
is shown at the end of the help.
"""

import inspect
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from otalign.cli.panels import PANELS
from otalign.cli.usage_errors import name_options

EXAMPLES = re.compile(r"^Examples?:", re.MULTILINE)
# For all commands; the width is that of the help in a pipe, at most.
CONTEXT = {"help_option_names": ["--help", "-h"], "max_content_width": 110}


class PanelCommand(TyperCommand):
    """A command whose help has panels, and whose errors name options as they are typed."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters in the order of their panels."""
        return sorted(_prepare_params(super().get_params(ctx), self.callback), key=_panel_order)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line; metavars show what can be repeated."""
        arguments = (param for param in self.get_params(ctx) if param.param_type_name == "argument")
        names = (param.metavar if param.required else f"[{param.metavar}]" for param in arguments)
        return [*filter(None, [self.options_metavar]), *names]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, in colours if standard output is a terminal."""
        if sys.stdout.isatty():
            super().format_help(ctx, formatter)
        else:
            _write_plain_help(self, ctx, formatter)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options as plain text, a section for each panel."""
        sections: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for param in self.get_params(ctx):
            if record := param.get_help_record(ctx):
                default = "Arguments" if param.param_type_name == "argument" else "Options"
                sections[getattr(param, "rich_help_panel", None) or default].append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples as they are, without wrapping their lines."""
        if self.epilog:
            formatter.write(self.epilog + "\n")

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an error of the library names parameters as the options of this command."""
        try:
            return super().invoke(ctx)
        except (ValueError, FileNotFoundError) as error:
            names = {
                param.name: max(param.opts, key=len)
                for param in self.params
                if param.param_type_name == "option"
            }
            # An option for several values of a parameter, such as --layers, is named in the plural.
            names = {name.removesuffix("s"): option for name, option in names.items()} | names
            if (message := name_options(str(error), names)) == str(error):
                raise
            raise ValueError(message) from error


class PanelGroup(TyperGroup):
    """A group of commands whose help is plain text in a pipe."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters."""
        return _prepare_params(super().get_params(ctx), self.callback)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, in colours if standard output is a terminal."""
        if sys.stdout.isatty():
            super().format_help(ctx, formatter)
        else:
            _write_plain_help(self, ctx, formatter)


def make_lazy_group(package: str, summaries: Mapping[str, str]) -> type[PanelGroup]:
    """Return a group that imports a command when it is asked for, so that others take no time.

    Args:
        package: The package with a module for each command, which holds a function or an application of the
            same name.
        summaries: The summary of each command by its name, in the order of the help.
    """

    class LazyGroup(PanelGroup):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.commands: Any = _Commands(package, tuple(summaries))

        def format_help(self, ctx: Any, formatter: Any) -> None:
            known = copy(self)
            known.commands = {name: PanelCommand(name, short_help=text) for name, text in summaries.items()}
            super(LazyGroup, known).format_help(ctx, formatter)

    return LazyGroup


@dataclass(frozen=True)
class _Commands(Mapping[str, Any]):
    """The commands of a package, each built when it is looked up."""

    package: str
    names: tuple[str, ...]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, name: str) -> Any:
        if name not in self.names:
            raise KeyError(name)
        return _build_command(self.package, name)


@cache
def _build_command(package: str, name: str) -> Any:
    app = getattr(import_module(f"{package}.{name}"), name)
    if not isinstance(app, typer.Typer):
        function, app = app, make_app()
        add_command(app, function)
    command = get_command(app)
    command.name = name
    return command


def make_app(
    *, add_completion: bool = False, cls: type[PanelGroup] = PanelGroup, **options: Any
) -> typer.Typer:
    """Return an application whose help is rich on a terminal and plain in a pipe."""
    return typer.Typer(
        add_completion=add_completion,
        cls=cls,
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings=CONTEXT,
        **options,
    )


def add_command(app: typer.Typer, command: Callable[..., None], name: str | None = None) -> None:
    """Add a command, with the examples of its docstring at the end of its help."""
    text, *examples = EXAMPLES.split(inspect.cleandoc(command.__doc__ or ""), maxsplit=1)
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n")]
    lines = [line.strip() for example in examples for line in example.strip().splitlines()]
    # With a line end in front, Typer keeps the indentation of the examples.
    epilog = "\n".join(("\nExamples:", *(f"  {line}" for line in lines))) if lines else None
    add = app.command(
        name,
        cls=PanelCommand,
        help="\n\n".join(paragraphs),
        short_help=paragraphs[0],
        epilog=epilog,
        context_settings=CONTEXT,
    )
    add(command)


def _write_plain_help(command: Any, ctx: Any, formatter: Any) -> None:
    command.format_usage(ctx, formatter)
    command.format_help_text(ctx, formatter)
    command.format_options(ctx, formatter)
    command.format_epilog(ctx, formatter)


def _prepare_params(params: list[Any], command: Callable[..., Any] | None) -> list[Any]:
    """Let the help show no types of arguments and flags, and let values be converted only where needed."""
    kinds = {} if command is None else _read_types(command)
    for param in params:
        param.process_value = partial(_process_value, param, kinds.get(param.name))
        if param.param_type_name == "argument" or param.is_flag:
            param.display_type_rich = lambda ctx: None
    return params


def _read_types(command: Callable[..., Any]) -> dict[str, Any]:
    """Return the type of each parameter of a command, without its declaration and None."""
    types = {}
    for name, parameter in inspect.signature(command).parameters.items():
        kind = parameter.annotation
        if get_origin(kind) is Annotated:
            kind = get_args(kind)[0]
        if get_origin(kind) in (Union, UnionType):
            kind = next(one for one in get_args(kind) if one is not type(None))
        types[name] = kind
    return types


def _is_default(param: Any, value: Any) -> bool:
    """Return whether a value is the default; None is none, or a missing argument would pass for one."""
    return value is not None and type(value) is type(param.default) and value == param.default


def _process_value(param: Any, kind: Any, ctx: Any, value: Any) -> Any:
    """Let Typer convert only a value that needs it, since its first conversion imports Pydantic."""
    several = param.multiple or param.nargs == -1
    if value is None and not param.required:
        value = () if several else None
    elif kind == list[str] and several and value:
        value = list(value)
    elif kind is Path and type(value) is str:
        value = Path(value)
    elif kind is type(value) is str or _is_default(param, value):
        pass
    else:
        return type(param).process_value(param, ctx, value)
    return value if param.callback is None else param.callback(ctx, param, value)


def _panel_order(param: Any) -> int:
    panel = getattr(param, "rich_help_panel", None)
    return (
        PANELS.index(panel) if panel in PANELS else -1 if param.param_type_name == "argument" else len(PANELS)
    )
