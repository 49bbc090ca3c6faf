"""`otalign project`: labels on source words carried over to the target, for JSON lines."""

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast, get_args

import typer

from otalign.aligner import Method
from otalign.alignment import Alignment
from otalign.cli.aligner_options import AlignerOptions, with_aligner_options
from otalign.cli.inputs import check_input, with_limits
from otalign.cli.methods import check_method, chosen_method, training_pairs
from otalign.cli.output import open_output, write_line
from otalign.cli.terminal import bars
from otalign.io import ReaderLimits, WordPair
from otalign.io.lines import BadLine, Line, lines
from otalign.io.tables import parse_json
from otalign.projection import Policy, project_tags, projected_spans
from otalign.text.words import Sentence, join_words, tokenize

SIDES = ("source", "target")
EXPECTED = "an object with source and target, and labels or spans of the source"


class ProjectionRecord(NamedTuple):
    """What a line holds, and its alignment if it has one, else its sentences."""

    line: Line
    data: dict[str, Any]
    alignment: Alignment | None
    pair: tuple[Sentence, Sentence] | None


@with_aligner_options
@with_limits
def project(
    aligner: AlignerOptions,
    limits: ReaderLimits,
    file: Annotated[str, typer.Argument(metavar="FILE", help="JSON lines; - for standard input.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write here instead of the terminal."),
    ] = None,
    policy: Annotated[
        str,
        typer.Option(
            metavar="|".join(get_args(Policy)),
            help="Where a span's words are scattered: the heaviest run of them, or what covers all.",
        ),
    ] = "run",
) -> None:
    """Carry labels on source words over to the target, through the alignment.

    A line holds source and target (texts, or lists of words), and labels (a BIO or BIOES tag for each source
    word) or spans ([start, end, label], in words, or in characters of a text). With links, as otalign align
    --format jsonl writes them, it is taken as aligned; else the model aligns it.

    Written is what was read, with the alignment, and target_labels or the spans as projected; lost are spans
    without a counterpart. Texts stand as source_text and target_text beside their words.

    Example: otalign project labelled.jsonl -o projected.jsonl
    """
    check_method(aligner)
    if policy not in get_args(Policy):
        raise ValueError(f"--policy must be one of {', '.join(get_args(Policy))}, got {policy!r}")
    rereadable = check_input(file)

    def records() -> Iterator[ProjectionRecord]:
        return (_record(line, limits) for line in lines(file, limits.max_line_bytes))

    if rereadable:  # so that bad lines are named before the work
        deque(records(), maxlen=0)
    with open_output(output, [file]) as out:
        for record, alignment in _align_records(records(), partial(_method, aligner)):
            write_line(out, _format_record(record, alignment, cast(Policy, policy)))


def _method(options: AlignerOptions) -> Method:
    more = list(training_pairs(options.train or [], False, None))
    with bars() as progress:
        return chosen_method(options, more, progress)


def _record(line: Line, limits: ReaderLimits) -> ProjectionRecord:
    data = parse_json(line, EXPECTED)
    try:
        if not isinstance(data, dict) or ("labels" in data) == ("spans" in data):
            raise ValueError("not one of labels and spans")
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
        raise BadLine(line, f"{error} in {line.text}", EXPECTED) from None
    words = made.alignment or WordPair(*(sentence.words for sentence in made.pair or ()))
    if excess := limits.find_excess(words):
        raise BadLine(line, *excess)
    return made


def _align_records(
    records: Iterator[ProjectionRecord], load: Callable[[], Method]
) -> Iterator[tuple[ProjectionRecord, Alignment]]:
    """The records in order, each with its alignment. The first without one needs a method to be loaded."""
    for record in records:
        if record.alignment is None:
            yield from _align_with(load(), chain([record], records))
        else:
            yield record, record.alignment


def _align_with(
    method: Method, records: Iterable[ProjectionRecord]
) -> Iterator[tuple[ProjectionRecord, Alignment]]:
    """The records in order, each with its alignment; those without one are aligned, many at a time."""
    waiting: deque[ProjectionRecord] = deque()

    def pairs() -> Iterator[tuple[Sentence, Sentence]]:
        for record in records:
            waiting.append(record)
            if record.pair is not None:
                yield record.pair

    def next_ones() -> Iterator[tuple[ProjectionRecord, Alignment]]:
        while waiting and (alignment := waiting[0].alignment) is not None:
            yield waiting.popleft(), alignment

    for alignment in method.align_many(pairs()):
        yield from next_ones()
        yield waiting.popleft(), alignment
    yield from next_ones()


def _format_record(record: ProjectionRecord, alignment: Alignment, policy: Policy) -> str:
    """The line that is written."""
    texts = {f"{side}_text": text for side in SIDES if isinstance(text := record.data[side], str)}
    data: dict[str, Any] = record.data | texts | ({} if record.alignment else alignment.to_dict())
    try:
        if "labels" in data:
            tags = project_tags(data["labels"], alignment, policy)
            data |= {"target_labels": tags.tags, "lost": tags.lost}
        else:
            unit = "characters" if "source_text" in data else "words"
            found = projected_spans(data["spans"], alignment, policy, unit)
            data |= {"projected": found.spans, "lost": found.lost}
        return json.dumps(data, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise BadLine(record.line, str(error), "labels of the source that can be carried over") from None
