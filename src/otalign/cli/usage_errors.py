"""What is wrong with the arguments of a command, in one line that names options as they are typed."""

import re
from collections.abc import Mapping
from typing import Any

from otalign.suggestions import suggest

FORMER = {  # values that options once had, and what to give today
    ("--format", "tsv"): "source, target and links are now --format columns, and tsv is source and target",
    ("--level", "s"): "it is now sure",
    ("--level", "s+p"): "it is now possible",
}
NO_OPTION = re.compile(r"no such option:? '?(?P<value>-[^ ']*)'?", re.IGNORECASE)
NO_COMMAND = re.compile(r"no such command '(?P<value>[^']*)'", re.IGNORECASE)
UNREADABLE = re.compile(r"path '(?P<path>.*)' is not readable")
NO_CHOICE = re.compile(r"'(?P<value>[^:]*)' is not one of (?P<choices>.*)")
# What a value must be, by the type of Pydantic's error.
EXPECTED = {
    **{"int_parsing": "an integer", "int_from_float": "an integer", "float_parsing": "a number"},
    **{"greater_than_equal": "{ge} or more", "less_than_equal": "{le} or less"},
}


def name_options(message: str, options: Mapping[str, str]) -> str:
    """Name parameters of the library in a message as the options of a command.

    Args:
        message: What a function of the library says is wrong, such as `tau must be positive, got -1`.
        options: The options by the names of their parameters.

    Returns:
        The message with the options as they are typed: `--tau must be positive, got -1`.
    """
    for name, option in options.items():
        message = re.sub(rf"\A{name}(?= must | applies only )", option, message)
        message = re.sub(rf"\b{name}=(?=[,; ]|\Z)", option, message)
        message = re.sub(rf"\({name}\)", f"({option})", message)
        message = re.sub(rf"(?<=applies only to ){name}[= ]'?(\w+)'?", rf"{option} \1", message)
    return message


def describe_usage_error(error: Any) -> str:
    """Return what is wrong with the arguments, on one line, and what to do instead."""
    param, context = getattr(error, "param", None), getattr(error, "ctx", None)
    message = " ".join(error.format_message().split()).rstrip(".")
    hint = f"see {context.command_path} --help" if context else ""
    if param and (expected := _describe_expected_value(error.__cause__)):
        return f"{max(param.opts, key=len)} must be {expected}"
    if unreadable := UNREADABLE.search(message):
        return f"{unreadable['path']}: permission denied"
    if param and (choice := NO_CHOICE.search(message)):
        option = max(param.opts, key=len) if param.param_type_name == "option" else param.metavar
        hint = FORMER.get((option, choice["value"]), hint)
        choices = choice["choices"].replace("'", "")
        similar = suggest(choice["value"], choices.split(", "))
        message = f"{option} must be one of {choices}, got {choice['value']!r}{similar}"
        if similar:
            return message
    elif context and (match := NO_OPTION.search(message) or NO_COMMAND.search(message)):
        names = [*(name for param in context.command.params for name in (*param.opts, *param.secondary_opts))]
        names += getattr(context.command, "commands", {})
        what = "option" if match["value"].startswith("-") else "command"
        message = f"there is no {what} {match['value']}"
        hint = suggest(match["value"], names).removeprefix("; ") or hint
    else:
        message = message[:1].lower() + message[1:].replace("Value error, ", "")
    return f"{message}; {hint}" if hint else message


def _describe_expected_value(cause: Any) -> str | None:
    """Return what Pydantic expected of a value, and the value; None for other errors."""
    for error in cause.errors(include_url=False) if hasattr(cause, "errors") else ():
        if error["type"] in EXPECTED:
            return f"{EXPECTED[error['type']].format(**error.get('ctx', {}))}, got {error['input']}"
    return None
