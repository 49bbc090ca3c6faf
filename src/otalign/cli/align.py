"""`otalign align`: links for two sentences, for files of any size, for what comes in by a pipe."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from otalign.cli.aligning import AlignerOptions, with_aligner_options
from otalign.cli.corpora import DataFolder, Split
from otalign.cli.methods import check_method, chosen_method, training_pairs
from otalign.cli.pairs import INPUTS, pairs_of
from otalign.cli.results import FORMATS, format_of, writable, writer
from otalign.cli.terminal import bars, with_progress


@with_aligner_options
def align(
    aligner: AlignerOptions,
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE TARGET | FILE",
            help="Two sentences, two files, one file with both, or a corpus by name; - for standard input.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write here instead of the terminal."),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(FORMATS), help="Of the output; else drawn on a terminal, and pharaoh elsewhere."
        ),
    ] = None,
    input_format: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help=f"Of one file: {', '.join(INPUTS)}; else by its name, jsonl or tsv.",
        ),
    ] = None,
    weights: Annotated[
        bool, typer.Option("--weights", help="Add a column: the weight of each link.")
    ] = False,
    nulls: Annotated[
        bool, typer.Option("--nulls", help="Add two columns: source and target words without a link.")
    ] = False,
    matrix: Annotated[bool, typer.Option("--matrix", help="Draw a grid of all word pairs instead.")] = False,
    pretokenized: Annotated[
        bool, typer.Option("--pretokenized", help="Split text at blanks and nothing else.")
    ] = False,
    split: Split = "test",
    data: DataFolder = None,
) -> None:
    """Align the words of sentence pairs: one line out for each line in, in order.

    A file may end in .gz or .zst. In jsonl, source and target are texts or lists of words; written, it
    holds words, links with weights, nulls, and the places of the words in the text.

    Of the methods, fast-align needs no model; it reads all pairs and learns from them before it aligns.

    Example: otalign align source.txt target.txt --model bert-base-uncased -o links.txt
    """
    form = format_of(format, output, matrix)
    check_method(aligner)
    pairs = pairs_of(texts or [], input_format, pretokenized, split, data)
    more = list(training_pairs(aligner.train or [], pretokenized, data))
    with writable(output, [file for part in (pairs, *more) for file in part.files]):
        with bars() as tell:
            alignments = chosen_method(aligner, more, tell).align_many(pairs)
        if pairs.files and form != "terminal" and sys.stderr.isatty():
            alignments = with_progress(alignments, pairs.count)
        with writer(output, form, weights=weights, nulls=nulls, matrix=matrix) as put:
            for alignment in alignments:
                put(alignment)
