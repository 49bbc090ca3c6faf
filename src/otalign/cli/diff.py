"""`otalign diff`: what changed between two versions of a text, in the terminal, as a page or as JSON."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from otalign.cli.aligning import AlignerOptions, with_aligner_options
from otalign.cli.methods import check_method
from otalign.cli.results import writable
from otalign.corpus.text import STDIN, lines
from otalign.diff import difference
from otalign.render.changes import changes
from otalign.render.changes_page import changes_page
from otalign.sentences import document, lined


@with_aligner_options
def diff(
    aligner: AlignerOptions,
    old: Annotated[str, typer.Argument(metavar="OLD", help="A text, UTF-8; - for standard input.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Another version of it.")],
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page there instead of showing it here.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all of the difference as JSON.")] = False,
    by_lines: Annotated[bool, typer.Option("--lines", help="Take each line as a sentence.")] = False,
    context: Annotated[int, typer.Option(min=0, help="Unchanged sentences shown around each change.")] = 1,
) -> None:
    """Show what changed between two versions of a text: kept, reworded, moved, added, removed.

    Sentences are matched first, by meaning, then the words of those that changed. Files may end in .gz or
    .zst. Blanks and line ends do not count as changes.

    Exits with 0 if nothing changed, 1 if something did, and 2 if there was trouble.

    Example: otalign diff draft.txt final.txt --html changes.html
    """
    check_method(aligner)
    if aligner.method != "ot":
        raise ValueError(f"--method must be ot for a diff, got {aligner.method!r}; leave it out")
    if html is not None and as_json:
        raise ValueError("give --html or --json, not both")
    if old == new == STDIN:
        raise ValueError("only one of the two texts can come from standard input")
    split = lined if by_lines else document
    texts = split(_read(old)), split(_read(new))
    with writable(html, [name for name in (old, new) if name != STDIN]):
        found = difference(*texts, aligner.load())
    if html is not None:
        html.write_text(changes_page(found, f"{_name(old)} → {_name(new)}"), encoding="utf-8")
    elif as_json:
        print(json.dumps(found.to_dict(), ensure_ascii=False, allow_nan=False))
    else:
        Console(highlight=False).print(changes(found, context))
    if not found.same:
        raise typer.Exit(1)


def _name(said: str) -> str:
    return "standard input" if said == STDIN else Path(said).name


def _read(name: str) -> str:
    """All of a file, whose bytes must be those of a text."""
    if name != STDIN and not Path(name).exists():
        raise ValueError(f"there is no file {name}")
    if Path(name).is_dir():
        raise ValueError(f"{name} is a folder; give a file")
    text = "\n".join(line.text for line in lines(name))
    if "\0" in text:
        raise ValueError(f"{_name(name)} is not a text: it holds zero bytes; give a plain text in UTF-8")
    return text
