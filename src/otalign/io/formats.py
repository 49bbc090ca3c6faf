"""The registry of file formats."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from otalign.io import brackets, csv_rows, ists, links, tables
from otalign.io.items import Item, LineTally


@dataclass(frozen=True)
class Format:
    """A file format: how files are split into records, how a record is parsed, and how it is written.

    Attributes:
        description: Description in a few words, for the help of commands.
        records: Function from an iterator of lines for each file to the records: one record per pair, a list
            of its lines, or of the lines of each file. It must not raise `BadLine`, so a bad line affects
            its own pair only; lines that fit nowhere go to a record that `parse` rejects.
        parse: Function from a record, and a tally of lines that give a link twice, to an item. It raises
            `BadLine`.
        write: Function for each file from an item, and its number from 1, to lines with their ends. It raises
            ValueError if the format cannot hold the item, or if `parse` would read another one.
        wordless: Whether files hold links without words, which must come from elsewhere.
        first: Number of the first word of a sentence in files without words.
        max_files: Maximum number of files.
        sparse: Whether pairs without links may be missing at the end.
        holds_alignments: Whether `otalign align` can write it: one file, with the links of any alignment.
        extra_columns: Whether `otalign align` writes lines of columns itself, without `write`, and can add
            columns of weights, nulls and phrases.
        complete: Whether it holds weights and nulls in any case.
        shard_suffix: Suffix of the files of a large corpus. Only a format that holds every pair in a line
            of its own has one, so that a shard can be written alone.

    Example:
        >>> from otalign.io import FORMATS
        >>> FORMATS["pharaoh"].wordless, FORMATS["multimwa"].wordless
        (True, False)
    """

    description: str
    records: Callable[..., Iterator[Any]]
    parse: Callable[[Any, LineTally], Item]
    write: tuple[Callable[[Item, int], str], ...]
    wordless: bool = False
    first: int = 0
    max_files: int = 1
    sparse: bool = False
    holds_alignments: bool = False
    extra_columns: bool = False
    complete: bool = False
    shard_suffix: str | None = None


# `guessing` recognises each format by its suffix or its first lines.
FORMATS = {
    "pharaoh": Format(
        "links such as 0-0 1p2, counted from 0",
        links.split_lines,
        links.make_parser(links.PHARAOH),
        (links.make_formatter(first=0),),
        wordless=True,
        holds_alignments=True,
        extra_columns=True,
        shard_suffix=".txt",
    ),
    "talp": Format(
        "links such as 1-1 2p3, counted from 1",
        links.split_lines,
        links.make_parser(links.TALP),
        (links.make_formatter(first=1),),
        wordless=True,
        first=1,
        holds_alignments=True,
    ),
    "naacl": Format(
        "one line per link, such as 1 2 3 S",
        links.group_by_number,
        links.parse_naacl,
        (links.format_naacl,),
        wordless=True,
        first=1,
        sparse=True,
        holds_alignments=True,
    ),
    "a3": Format(
        "A3 of GIZA++",
        brackets.split_at_headers,
        brackets.parse_a3,
        (brackets.format_a3,),
        holds_alignments=True,
    ),
    "multimwa": Format(
        "table of MultiMWA", links.split_lines, tables.parse_multimwa, (tables.format_multimwa,)
    ),
    "columns": Format(
        "source, target and links, with tabs",
        links.split_lines,
        tables.parse_columns,
        (tables.format_columns,),
        holds_alignments=True,
        extra_columns=True,
        shard_suffix=".tsv",
    ),
    "msr-rte": Format(
        "MSR-RTE, one file per annotator",
        brackets.group_by_annotator,
        brackets.parse_msr_rte,
        (brackets.format_msr_rte,),
        max_files=9,
    ),
    "ists": Format("chunks of iSTS", ists.split_at_sentences, ists.parse_ists, (ists.format_ists,)),
    "bars": Format("source ||| target", links.split_lines, tables.parse_bars, (tables.format_bars,)),
    "parallel": Format(
        "two files, one sentence per line",
        tables.zip_lines,
        tables.parse_parallel,
        (tables.format_source, tables.format_target),
        max_files=2,
    ),
    "tsv": Format("source and target, with a tab", links.split_lines, tables.parse_tsv, (tables.format_tsv,)),
    "csv": Format(
        "source and target, with a header", csv_rows.split_rows, csv_rows.parse_csv, (csv_rows.format_csv,)
    ),
    "jsonl": Format(
        "one JSON object per line, with everything",
        links.split_lines,
        tables.parse_jsonl,
        (tables.format_jsonl,),
        holds_alignments=True,
        complete=True,
        shard_suffix=".jsonl",
    ),
}


def get_format(format: str) -> Format:
    """Return the format of a name, or raise ValueError."""
    if format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join((*FORMATS, 'parquet'))}, got {format!r}")
    return FORMATS[format]
