"""`otalign project`: labels of source words projected to the target, in JSON lines."""

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from otalign.alignment import Alignment
from otalign.cli.aligner_options import AlignerOptions, with_aligner_options
from otalign.cli.input import check_input
from otalign.cli.methods import check_method, load_method, read_training_pairs
from otalign.cli.options import with_limits
from otalign.cli.output import open_output, write_text
from otalign.cli.panels import OUTPUT
from otalign.cli.terminal import show_bars, with_progress
from otalign.io import ReaderLimits, WordPair, guess_format
from otalign.io.lines import BadLine, Line, read_lines
from otalign.io.parquet import PARQUET, read_rows
from otalign.io.tables import parse_json
from otalign.method import Method
from otalign.projection import Policy, project_spans, project_tags
from otalign.text.words import Sentence, join_words, tokenize

SIDES = ("source", "target")
EXPECTED = "a JSON object on one line, with source and target, and labels or spans of the source"


class ProjectionRecord(NamedTuple):
    """A line of the input, with its alignment if it has one, else with its sentences."""

    line: Line
    data: dict[str, Any]
    alignment: Alignment | None
    pair: tuple[Sentence, Sentence] | None


@with_aligner_options
@with_limits
def project(
    aligner: AlignerOptions,
    limits: ReaderLimits,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="File of JSON lines, or Parquet; - is standard input.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File to write.",
            show_default="standard output",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    policy: Annotated[
        Policy,
        typer.Option(
            help="What becomes of a span whose words are scattered: run keeps the heaviest run of them, "
            "cover takes everything from the first to the last.",
            rich_help_panel=OUTPUT,
        ),
    ] = "run",
) -> None:
    """Carry labels of source words over to the target.

    A line is a JSON object, or a row of Parquet, with source and target, each a text or a list of words, and
    with labels or spans.
    Labels are a BIO or BIOES tag for each source word. A span is a list of start, end and label, in words, or
    in characters of a text. A line with links, as otalign align --format jsonl writes it, is not aligned
    again.

    The output has what was read, the alignment, and target_labels or the projected spans. Spans without a
    counterpart are listed as lost. Texts become source_text and target_text, beside their words.

    Examples:
        otalign project labelled.jsonl -o projected.jsonl
        otalign align labelled.jsonl --format jsonl | otalign project -
    """
    check_method(aligner)
    rereadable = check_input(file)

    format = guess_format(file, stream=True) or "jsonl"
    if format not in ("jsonl", PARQUET):
        raise ValueError(f"{file} must be JSON lines or Parquet, which have room for labels, got {format}")

    def records() -> Iterator[ProjectionRecord]:
        lines = read_lines(file, limits.max_line_bytes) if format == "jsonl" else _read_rows(file)
        return (_parse_record(line, limits) for line in lines)

    total = None
    if rereadable:  # so that bad lines are named before the work
        total = sum(1 for _ in with_progress(records(), "checking"))
    with open_output(output, [file]) as out:
        projected = _align_records(records(), partial(_load_method, aligner))
        for record, alignment in with_progress(projected, "projecting", total):
            write_text(out, _format_record(record, alignment, policy) + "\n")


def _read_rows(file: str) -> Iterator[Line]:
    """Yield the rows of a Parquet file as lines of JSON, so that errors name them."""
    for number, row in enumerate(read_rows(file), 1):
        yield Line(file, number, json.dumps(row, ensure_ascii=False, default=str).encode())


def _load_method(options: AlignerOptions) -> Method:
    more = list(read_training_pairs(options.train or [], False, None))
    with show_bars() as progress:
        return load_method(options, more, progress)


def _parse_record(line: Line, limits: ReaderLimits) -> ProjectionRecord:
    data = parse_json(line, EXPECTED)
    if not isinstance(data, dict):
        raise BadLine(line, repr(line.text), EXPECTED)
    if ("labels" in data) == ("spans" in data):
        found = "both labels and spans" if "labels" in data else "neither labels nor spans"
        raise BadLine(line, f"{found} in {line.text}", EXPECTED)
    try:
        if "links" in data:
            made = ProjectionRecord(line, data, Alignment.from_dict(data), None)
        else:
            source, target = (
                tokenize(data[side]) if isinstance(data[side], str) else join_words(data[side])
                for side in SIDES
            )
            made = ProjectionRecord(line, data, None, (source, target))
    except KeyError as error:
        raise BadLine(line, f"no {error}", EXPECTED) from None
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise BadLine(line, str(error)) from None
    words = made.alignment or WordPair(*(sentence.words for sentence in made.pair or ()))
    if excess := limits.find_excess(words):
        raise BadLine(line, *excess)
    return made


def _align_records(
    records: Iterator[ProjectionRecord], load: Callable[[], Method]
) -> Iterator[tuple[ProjectionRecord, Alignment]]:
    """Yield the records with their alignments; the method is loaded for the first that has none."""
    for record in records:
        if record.alignment is None:
            yield from _align_with(load(), chain([record], records))
        else:
            yield record, record.alignment


def _align_with(
    method: Method, records: Iterable[ProjectionRecord]
) -> Iterator[tuple[ProjectionRecord, Alignment]]:
    """Yield the records with their alignments; those without one are aligned, many at a time."""
    waiting: deque[ProjectionRecord] = deque()

    def pairs() -> Iterator[tuple[Sentence, Sentence]]:
        for record in records:
            waiting.append(record)
            if record.pair is not None:
                yield record.pair

    def pop_ready() -> Iterator[tuple[ProjectionRecord, Alignment]]:
        while waiting and (alignment := waiting[0].alignment) is not None:
            yield waiting.popleft(), alignment

    for alignment in method.align_many(pairs()):
        yield from pop_ready()
        yield waiting.popleft(), alignment
    yield from pop_ready()


def _format_record(record: ProjectionRecord, alignment: Alignment, policy: Policy) -> str:
    """Return the line to write for a record, without its end."""
    texts = {f"{side}_text": text for side in SIDES if isinstance(text := record.data[side], str)}
    data: dict[str, Any] = record.data | texts | ({} if record.alignment else alignment.to_dict())
    try:
        if "labels" in data:
            tags = project_tags(data["labels"], alignment, policy)
            data |= {"target_labels": tags.tags, "lost": tags.lost}
        else:
            unit = "characters" if "source_text" in data else "words"
            length = len(data["source_text"]) if unit == "characters" else None
            found = project_spans(data["spans"], alignment, policy, unit, text_length=length)
            data |= {"projected": found.spans, "lost": found.lost}
        return json.dumps(data, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{record.line.path}, line {record.line.number}: {error}") from None
