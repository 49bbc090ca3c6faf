"""`otalign align`: links for two sentences, for files of any size, or for what comes in by a pipe."""

from functools import partial
from itertools import count, repeat
from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from otalign.cli.aligner_options import AlignerOptions, with_aligner_options
from otalign.cli.input import InputFormat, read_pairs
from otalign.cli.methods import check_method, load_method, read_training_pairs
from otalign.cli.options import (
    GUESSED,
    DataFolder,
    Matrix,
    NoPager,
    Split,
    complete_corpus,
    describe_formats,
    with_limits,
)
from otalign.cli.output import (
    SUFFIXES_WITH_LINKS,
    AlignmentFormat,
    choose_format,
    choose_shard_format,
    draw_alignments,
    open_output,
    write_alignments,
)
from otalign.cli.panels import HARDWARE, INPUT, LARGE, OUTPUT
from otalign.cli.shards import ShardOptions, align_in_shards
from otalign.cli.terminal import open_pager, show_bars, with_progress
from otalign.engines import Folder, OutputFormat
from otalign.engines.work import SIZE, align_items
from otalign.io import ReaderLimits
from otalign.io.lines import STDIN
from otalign.io.writing import ALIGNMENT_FORMATS, SHARD_SUFFIXES
from otalign.render.phrases import describe_phrases


@with_aligner_options
@with_limits
def align(
    aligner: AlignerOptions,
    limits: ReaderLimits,
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE TARGET | FILE",
            help="Two sentences, two files with a sentence per line, one file with both, or the name of a "
            "corpus; - is standard input.",
            show_default=False,
            autocompletion=complete_corpus,
        ),
    ] = None,
    input_format: Annotated[
        InputFormat | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help=f"Format of the input: {', '.join(get_args(InputFormat))}; otalign convert --help "
            "describes them.",
            show_default=GUESSED,
            rich_help_panel=INPUT,
        ),
    ] = None,
    pretokenized: Annotated[
        bool,
        typer.Option(
            "--pretokenized", help="Split text into words at spaces and tabs only.", rich_help_panel=INPUT
        ),
    ] = False,
    split: Split = "test",
    data: DataFolder = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE|FOLDER/",
            help=f"File to write, in the format of its suffix ({', '.join(SUFFIXES_WITH_LINKS)}; other names "
            "are pharaoh), or a folder for a large corpus.",
            show_default="standard output",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    format: Annotated[
        AlignmentFormat | None,
        typer.Option(
            metavar="FORMAT",
            help=f"Format of the output: terminal (a drawing), {describe_formats(ALIGNMENT_FORMATS)}; for a "
            f"folder one of {', '.join(SHARD_SUFFIXES)}.",
            show_default="that of the suffix; terminal on a terminal, else pharaoh; jsonl for a folder",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    weights: Annotated[
        bool,
        typer.Option("--weights", help="Add a column with the score of each link.", rich_help_panel=OUTPUT),
    ] = False,
    nulls: Annotated[
        bool,
        typer.Option(
            "--nulls",
            help="Add two columns with the source and the target words that have no link.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    phrases: Annotated[
        bool,
        typer.Option(
            "--phrases",
            help="Add the phrases, words that are linked directly or through each other: a field of JSON and "
            "Parquet, a column such as 0:0 1,2:1, or lines below a drawing.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    matrix: Matrix = False,
    no_pager: NoPager = False,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Number of processes beside the one with the model, which prepare text and write the files "
            "of a folder.",
            show_default="none; for a folder and a GPU, one per processor",
            rich_help_panel=HARDWARE,
        ),
    ] = None,
    shard_size: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Number of pairs in each file of the folder.",
            show_default=f"{SIZE:,}",
            rich_help_panel=LARGE,
        ),
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Number of worker processes, with a model each.",
            show_default="1; for an exported model, one for four processors",
            rich_help_panel=LARGE,
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Continue an interrupted run in the same folder.", rich_help_panel=LARGE
        ),
    ] = False,
    engine: Annotated[
        Literal["local", "ray"] | None,
        typer.Option(
            help="Where the processes run: on this machine, or on a Ray cluster.",
            show_default="local",
            rich_help_panel=LARGE,
        ),
    ] = None,
    ray_address: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Address of the Ray cluster, such as auto.",
            show_default="a cluster on this machine",
            rich_help_panel=LARGE,
        ),
    ] = None,
    gpus: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="SHARE",
            help="Share of a GPU for each Ray process.",
            show_default="0",
            rich_help_panel=LARGE,
        ),
    ] = None,
) -> None:
    """Find which words of two sentences correspond.

    A link joins a word of the source to a word of the target that means the same there; words without a
    counterpart have no link. Links are pairs of positions, counted from 0: 0-0 1-2 joins the first words,
    and the second source word to the third target word. Each pair of sentences gives one line, in order.

    The model that comes with the package needs no options. The panels Transport, SimAlign and fast_align
    are for other models and methods.

    Files may end in .gz or .zst. Further fields of JSON lines and of Parquet, such as ids and labels, are
    kept. An output that ends in / is a folder for a large corpus: the work is done in parts, by one
    process or several, and can be resumed.

    Examples:
        otalign align "He bought a car." "He purchased a car."
        otalign align source.txt target.txt -o links.txt
        otalign align pairs.tsv -o links.jsonl
        otalign align pairs.tsv --model bert-base-uncased --problem uot --tau 0.4
        otalign align corpus.jsonl.gz -o links/ --processes 8
    """
    shards = ShardOptions(engine, shard_size, processes, resume, ray_address, gpus, workers)
    read = partial(read_pairs, texts or [], input_format, pretokenized, split, data, limits=limits)
    if shards.selects_shards(output):
        check_method(aligner)
        form = choose_shard_format(format, matrix, weights=weights, nulls=nulls, phrases=phrases)
        align_in_shards(read, aligner, Folder(Path(output or ""), form), shards)
        return
    file = None if output in (None, STDIN) else Path(output)
    chosen = choose_format(format, file, matrix)
    form = None if chosen == "terminal" else OutputFormat(chosen, weights, nulls, phrases)
    check_method(aligner)
    if workers and aligner.method != "ot":
        raise ValueError("--workers applies only to --method ot; remove it or choose ot")
    pairs = read()
    more = list(read_training_pairs(aligner.train or [], pretokenized, data))
    with open_output(file, [name for part in (pairs, *more) for name in part.files]) as out:
        with show_bars() as progress:
            progress("loading the model", 0, None)
            method = load_method(aligner, more, progress)
        options = {"workers": workers} if workers else {}
        alignments = align_items(method, pairs.items, pairs.pretokenized, **options)
        if form:
            alignments = with_progress(alignments, "aligning", pairs.count) if pairs.files else alignments
            write_alignments(alignments, out, form)
            return
        with open_pager(bool(pairs.files) and not no_pager) as console:
            numbers = count(1) if pairs.files else repeat(None)
            below = describe_phrases if phrases else lambda _: ""
            rows = ((number, one, "", below(one)) for number, one in zip(numbers, alignments, strict=False))
            draw_alignments(rows, console, matrix=matrix)
