"""`otalign align`: links for two sentences, for files of any size, for what comes in by a pipe."""

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from otalign.aligner import Aligner, Method
from otalign.alignment import Alignment
from otalign.cli.aligner_options import AlignerOptions, with_aligner_options
from otalign.cli.corpus import DataFolder, Split
from otalign.cli.input import INPUTS, Pairs, pairs_of
from otalign.cli.inputs import with_limits
from otalign.cli.methods import check_method, chosen_method, training_pairs
from otalign.cli.output import FORMATS, alignment_writer, format_of, open_output, shard_form
from otalign.cli.shards import ShardOptions, align_in_shards
from otalign.cli.terminal import bars, with_progress
from otalign.engines import Folder
from otalign.engines.work import SIZE
from otalign.io import ReaderLimits


@with_aligner_options
@with_limits
def align(
    aligner: AlignerOptions,
    limits: ReaderLimits,
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE TARGET | FILE",
            help="Two sentences, two files, one file with both, or a corpus by name; - for standard input.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE|FOLDER/",
            help="Write here instead of the terminal; into a folder, in shards.",
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(FORMATS),
            help="Of the output; else drawn on a terminal, and pharaoh elsewhere. Of shards also jsonl.gz "
            "or parquet; else jsonl.",
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
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes that find words and subwords ahead of a GPU.")
    ] = None,
    shard_size: Annotated[
        int | None, typer.Option(min=1, help=f"Pairs of a shard; else {SIZE:,}.", show_default=False)
    ] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, help="That align shards side by side, an aligner each; else one.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in the folder where it stopped.")
    ] = False,
    engine: Annotated[
        str | None, typer.Option(metavar="local|ray", help="Who aligns shards: this machine, or Ray.")
    ] = None,
    ray_address: Annotated[
        str | None, typer.Option(help="Of a Ray cluster, such as auto; else one is started here.")
    ] = None,
    gpus: Annotated[float | None, typer.Option(help="Of Ray: the share of a GPU that a process has.")] = None,
) -> None:
    """Align the words of sentence pairs: one line out for each line in, in order.

    A file may end in .gz or .zst. In jsonl, source and target are texts or lists of words; written, it
    holds words, links with weights, nulls, and the places of the words in the text.

    Into a folder, the output is in shards of so many pairs each, the same bytes however often the work was
    stopped and resumed, and by however many processes it was done.

    Of the methods, fast-align needs no model; it reads all pairs and learns from them before it aligns.

    Example: otalign align source.txt target.txt --model bert-base-uncased -o links.txt
    """
    shards = ShardOptions(engine, shard_size, processes, resume, ray_address, gpus)
    read = partial(pairs_of, texts or [], input_format, pretokenized, split, data, limits=limits)
    if shards.selects_shards(output):
        if workers:
            raise ValueError("--workers is for output in one file; a folder has --processes")
        check_method(aligner)
        form = shard_form(format, weights, nulls, matrix)
        align_in_shards(read, aligner, Folder(Path(output or ""), form), shards)
        return
    file = None if output is None else Path(output)
    form = format_of(format, file, matrix)
    check_method(aligner)
    pairs = read()
    more = list(training_pairs(aligner.train or [], pretokenized, data))
    with open_output(file, [name for part in (pairs, *more) for name in part.files]) as out:
        with bars() as progress:
            method = chosen_method(aligner, more, progress)
        alignments = _align_pairs(method, pairs, workers)
        if pairs.files and form != "terminal" and sys.stderr.isatty():
            alignments = with_progress(alignments, pairs.count)
        put = alignment_writer(out, form, weights=weights, nulls=nulls, matrix=matrix)
        for alignment in alignments:
            put(alignment)


def _align_pairs(method: Method, pairs: Pairs, workers: int | None) -> Iterator[Alignment]:
    if not workers:
        return method.align_many(pairs)
    if not isinstance(method, Aligner):
        raise ValueError("--workers is for --method ot and its aligners; leave it out")
    return method.align_many(pairs, workers=workers)
