"""Run the behaviour suite: minimal pairs in the style of CheckList, with a pass rate for each capability.

python benchmarks/behaviour.py --model small --half report --level sure
python benchmarks/behaviour.py --model small --simalign ENCODER --ot ENCODER --format markdown
python benchmarks/behaviour.py --model small --half train --only "two items exchanged" --faults 5

Every pair is aligned alone, from words. `--half train` has the templates that may guide training; `--half
report` has others, for reporting only. A capability marked * is a convention on which annotators differ, and
does not count towards the mean.
"""

import json
import sys
import time
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any

from capabilities import HALVES, Capability, Half, load_capabilities
from otalign import Aligner
from otalign.baselines import SimAligner

LEVELS = ("sure", "possible")


@dataclass(frozen=True)
class Column:
    """An aligner of the table, with its name."""

    name: str
    load: Callable[[], Any]


@dataclass
class Result:
    """The result of one aligner on the cases of a capability."""

    capability: Capability
    passed: int = 0
    cases: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return 100 * self.passed / self.cases


def main() -> None:
    """Run the suite and print it."""
    options = parse_options()
    chosen = [
        one
        for one in load_capabilities()
        if not options.only or any(part in one.name for part in options.only)
    ]
    if not chosen:
        sys.exit(f"--only must be part of the name of a capability, got {', '.join(options.only)}")
    results = {}
    for column in list_columns(options):
        start = time.perf_counter()
        results[column.name] = run_suite(column.load(), chosen, options.half)
        print(f"{column.name}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    print(FORMATS[options.format](results, options.half))
    for name, of_column in results.items():
        for result in of_column:
            for fault in result.faults[: options.faults]:
                print(f"{name} | {result.capability.name} | {fault}")


def parse_options() -> Namespace:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument(
        "--model", action="append", default=[], help="name or folder of an aligner; repeatable"
    )
    parser.add_argument("--simalign", metavar="ENCODER", help="add SimAlign (IterMax) over this encoder")
    parser.add_argument("--ot", metavar="ENCODER", help="add unsupervised transport over this encoder")
    parser.add_argument("--layer", type=int, default=4, help="encoder layer of --simalign and --ot")
    parser.add_argument("--half", choices=HALVES, default="report", help="half of the templates")
    parser.add_argument("--level", choices=(*LEVELS, "both"), default="sure", help="links of trained models")
    parser.add_argument("--only", action="append", help="part of the name of a capability; repeatable")
    parser.add_argument("--faults", type=int, default=0, help="print so many failed cases of each capability")
    parser.add_argument("--device", default=None, help="device of torch, for models that use it")
    parser.add_argument("--format", choices=tuple(FORMATS), default="table")
    return parser.parse_args()


def list_columns(options: Namespace) -> Iterator[Column]:
    """The aligners to run, in the order of the table."""
    if options.simalign:
        yield Column("SimAlign", lambda: load_simalign(options.simalign, options.layer))
    if options.ot:
        yield Column("OT", lambda: load_unsupervised(options.ot, options.layer, options.half))
    models = options.model or ([] if options.simalign or options.ot else ["small"])
    levels = LEVELS if options.level == "both" else (options.level,)
    for model in models:
        for level in levels:
            label = label_model(model, models)
            name = label if len(levels) == 1 else f"{label} ({level})"
            yield Column(
                name,
                lambda model=model, level=level: Aligner.load(model, links=level, device=options.device),
            )


def label_model(model: str, models: Sequence[str]) -> str:
    """The last part of a folder's name, or all of it where another model has the same last part."""
    last = Path(model).name
    return last if sum(Path(other).name == last for other in models) == 1 else model


def load_simalign(encoder: str, layer: int) -> SimAligner:
    """Load SimAlign as its authors run it: each sentence encoded alone, IterMax."""
    return SimAligner.load(encoder, layer=layer)


def load_unsupervised(encoder: str, layer: int, half: Half) -> Aligner:
    """Load transport with default settings, centred on the sentences of the suite."""
    pairs = [(case.source, case.target) for one in load_capabilities() for case in one.cases(half)]
    return Aligner.load(encoder, layer=layer).fit_centre(pairs)


def run_suite(aligner: Any, capabilities: Sequence[Capability], half: Half) -> list[Result]:
    """Check every case of a half, each aligned alone."""
    results = []
    for capability in capabilities:
        result = Result(capability)
        for case in capability.cases(half):
            faults = capability.check(aligner, case)
            result.cases += 1
            result.passed += not faults
            if faults:
                words = " / ".join(" ".join(side[:40]) for side in (case.source, case.target))
                result.faults.append(f"{words} | {'; '.join(faults[:6])}")
        results.append(result)
    return results


def average(results: Sequence[Result]) -> float:
    """The mean rate over the capabilities that annotators agree on."""
    agreed = [result.rate for result in results if result.capability.agreed]
    return mean(agreed or [result.rate for result in results])


def list_rows(results: dict[str, list[Result]]) -> Iterator[tuple[Capability, list[float]]]:
    """Return each capability with the rates of all columns."""
    for row in zip(*results.values(), strict=True):
        yield row[0].capability, [result.rate for result in row]


def name_row(capability: Capability) -> str:
    return capability.name + ("" if capability.agreed else " *")


def format_table(results: dict[str, list[Result]], half: Half) -> str:
    """Format the table as plain text, group by group."""
    lines, group = [f"{half:46}" + "".join(f"{name[:18]:>19}" for name in results)], None
    for capability, rates in list_rows(results):
        if capability.group != group:
            group = capability.group
            lines.append(f"[{group}]")
        lines.append(f"{name_row(capability):46}" + "".join(f"{rate:19.0f}" for rate in rates))
    lines.append(
        f"{'mean of what annotators agree on':46}"
        + "".join(f"{average(of):19.1f}" for of in results.values())
    )
    return "\n".join(lines)


def format_markdown(results: dict[str, list[Result]], half: Half) -> str:
    """A table for the documentation, with what is expected."""
    head = ["capability", "expected", *results]
    lines = [_join_cells(head), _join_cells(["---", "---", *("--:" for _ in results)])]
    group = None
    for capability, rates in list_rows(results):
        if capability.group != group:
            group = capability.group
            lines.append(_join_cells([f"**{group}**", "", *("" for _ in rates)]))
        figures = [f"{rate:.0f}" for rate in rates]
        lines.append(_join_cells([name_row(capability), capability.expectation, *figures]))
    lines.append(_join_cells(["**mean**", "", *(f"**{average(of):.1f}**" for of in results.values())]))
    return "\n".join(lines)


def _join_cells(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def format_json(results: dict[str, list[Result]], half: Half) -> str:
    """Format all figures as JSON, with expectations, sources and failed cases."""
    data = {
        "half": half,
        "models": {
            name: {
                "mean": round(average(of), 2),
                "capabilities": [
                    {
                        "name": result.capability.name,
                        "group": result.capability.group,
                        "expectation": result.capability.expectation,
                        "source": result.capability.source,
                        "agreed": result.capability.agreed,
                        "cases": result.cases,
                        "rate": round(result.rate, 2),
                        "faults": result.faults,
                    }
                    for result in of
                ],
            }
            for name, of in results.items()
        },
    }
    return json.dumps(data, ensure_ascii=False, indent=2)


FORMATS: dict[str, Callable[[dict[str, list[Result]], Half], str]] = {
    "table": format_table,
    "json": format_json,
    "markdown": format_markdown,
}


if __name__ == "__main__":
    main()
