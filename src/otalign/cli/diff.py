"""`otalign diff`: changes between two versions of a text, on the terminal, as a page or as JSON."""

import json
import re
from pathlib import Path
from typing import Annotated

import typer

from otalign.cli.aligner_options import AlignerOptions, with_aligner_options
from otalign.cli.input import check_input
from otalign.cli.methods import check_method
from otalign.cli.options import LIMIT_HELP, NoPager
from otalign.cli.output import open_output
from otalign.cli.panels import INPUT, OUTPUT
from otalign.cli.terminal import open_pager, show_bars
from otalign.diff import difference
from otalign.io import ReaderLimits
from otalign.io.lines import MAX_LINE_BYTES, STDIN, name_input, read_lines
from otalign.render.changes import FILTERS, changes
from otalign.render.changes_page import changes_page
from otalign.suggestions import suggest
from otalign.text.sentences import Document, document, split_lines
from otalign.text.words import tokenize

SENTENCE_END = re.compile("[。！？]")  # of scripts without blanks between words
FILE_NAME = re.compile(r"\S\.(txt|md|rst|tex|html?|jsonl?|gz|zst)$", re.IGNORECASE)


@with_aligner_options
def diff(
    aligner: AlignerOptions,
    old: Annotated[
        str,
        typer.Argument(metavar="OLD", help="Text file in UTF-8, - for standard input, or a text in quotes."),
    ],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Newer version of it.")],
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="HTML page to write, instead of showing the changes here.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the whole difference as JSON.", rich_help_panel=OUTPUT)
    ] = False,
    ignore_case: Annotated[
        bool,
        typer.Option(
            "--ignore-case", "-i", help="Take upper and lower case as equal.", rich_help_panel=INPUT
        ),
    ] = False,
    by_lines: Annotated[
        bool, typer.Option("--lines", help="Take each line as a sentence.", rich_help_panel=INPUT)
    ] = False,
    columns: Annotated[
        bool,
        typer.Option("--side-by-side", "-y", help="Show the versions side by side.", rich_help_panel=OUTPUT),
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND",
            help=f"Show only changes of this kind: {', '.join(FILTERS)}. Can be repeated.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    context: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Number of unchanged sentences to show around each change.",
            rich_help_panel=OUTPUT,
        ),
    ] = 1,
    no_pager: NoPager = False,
    max_bytes: Annotated[
        int, typer.Option(min=1, metavar="N", help="Largest text, in bytes.", rich_help_panel=INPUT)
    ] = MAX_LINE_BYTES,
    max_words: Annotated[
        int,
        typer.Option(min=1, metavar="N", help=LIMIT_HELP["max_words"], rich_help_panel=INPUT),
    ] = ReaderLimits.max_words,
) -> None:
    """Show what changed between two versions of a text.

    Sentences are matched first, by meaning, then the words of those that changed: kept, reworded, moved,
    added or removed. Changes of case and punctuation alone are minor. Numbers that changed, and negation that
    was added or removed, are flagged. White space does not count. Files may end in .gz or .zst.

    The exit status is 0 if nothing changed, 1 if something did, and 2 after an error.

    Examples:
        otalign diff draft.txt final.txt
        otalign diff "It rained all day." "It snowed all day."
        otalign diff draft.txt final.txt --side-by-side
        otalign diff draft.txt final.txt --html changes.html
    """
    check_method(aligner)
    if aligner.method != "ot":
        raise ValueError(f"--method must be ot for a diff, got {aligner.method!r}; remove it")
    for name in only or ():
        if name not in FILTERS:
            meant = suggest(name, FILTERS)
            raise ValueError(f"--only must be one of {', '.join(FILTERS)}, got {name!r}{meant}")
    if old == new == STDIN:
        raise ValueError("only one of the two texts can come from standard input")
    split = split_lines if by_lines else document
    texts = split(_read(old, max_bytes)), split(_read(new, max_bytes))
    names = _display_name(old, "old text"), _display_name(new, "new text")
    for name, text in zip(names, texts, strict=True):
        _check_sentences(name, text, max_words)
    with open_output(html, [name for name in (old, new) if not _is_text(name)]) as out:
        with show_bars() as progress:
            progress("loading the model", 0, None)
            method = aligner.load()
            progress("loading the model", 1, 1)
            found = difference(*texts, method, ignore_case=ignore_case, progress=progress)
        if html is not None:
            out.write(changes_page(found, " → ".join(names)).encode())
    if as_json:
        print(json.dumps(found.to_dict(), ensure_ascii=False, allow_nan=False))
    elif html is None:
        with open_pager(not no_pager) as console:
            console.print(changes(found, context, only or (), columns=columns))
    if not found.same:
        raise typer.Exit(1)


def _is_text(argument: str) -> bool:
    """Return whether an argument is a text: no word, or several that do not end as the name of a file."""
    words = argument.split()
    if not words:
        return True
    if (len(words) < 2 and not SENTENCE_END.search(argument)) or FILE_NAME.search(argument):
        return False
    try:
        return not Path(argument).exists()
    except (OSError, ValueError):  # too long for a name, or a letter that none may have
        return True


def _display_name(argument: str, name_of_text: str) -> str:
    if _is_text(argument):
        return name_of_text
    return Path(name_input(argument)).name


def _read(argument: str, max_bytes: int) -> str:
    """Return a text that was given, or read it from a file whose bytes must be those of a text."""
    name = _display_name(argument, "the text")
    too_long = ValueError(f"{name} has more than {max_bytes:,} bytes; raise --max-bytes")
    if _is_text(argument):
        lines = [argument]
        if len(argument.encode(errors="surrogateescape")) > max_bytes:
            raise too_long
    else:
        check_input(argument, hint="; a text that is given instead must have at least two words, or a 。")
        lines, size = [], 0
        for line in read_lines(argument, max_bytes):
            size += len(line.raw) + 1
            if line.limit or size > max_bytes + 1:  # the last line may have no end
                raise too_long
            lines.append(line.text)
    text = "\n".join(lines)
    if "\0" in text:
        raise ValueError(f"{name} is not a text: it holds zero bytes; give a plain text in UTF-8")
    return text


def _check_sentences(name: str, text: Document, max_words: int) -> None:
    for number, sentence in enumerate(text.sentences, 1):
        # A word has at least one character, so only long sentences need to be split.
        if len(sentence) > max_words and (count := len(tokenize(sentence).spans)) > max_words:
            raise ValueError(
                f"{name}, sentence {number}: found {count:,} words, expected at most {max_words:,}; "
                "raise --max-words"
            )
