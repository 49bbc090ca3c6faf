"""`otalign evaluate`: how well predictions agree with the gold, and whether one is better than another."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich.table import Table

from otalign.cli.convert import FORMAT_HELP, as_level
from otalign.cli.corpus import AsJson, DataFolder, Split
from otalign.cli.inputs import with_limits
from otalign.cli.predictions import read_golds, read_predictions
from otalign.cli.terminal import console
from otalign.io import CORPORA, ReaderLimits
from otalign.metrics import (
    Counts,
    Grouping,
    Resampling,
    breakdown,
    compare,
    count,
    intervals,
    per_pair,
    scores,
    signature,
)

MAIN = ("precision", "recall", "f1")
OTHERS = ("exact_match", "micro_f1", "aer")

GoldLevel = Annotated[str, typer.Option("--level", metavar="sure|possible", help="Gold links to score.")]
GoldFormat = Annotated[str, typer.Option(metavar="FORMAT", help="Of a gold file, likewise.")]


@with_limits
def evaluate(
    limits: ReaderLimits,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="PRED... GOLD", help="Predictions, then the gold: a file, or a corpus by name."
        ),
    ],
    level: GoldLevel = "sure",
    format: Annotated[str, typer.Option(metavar="FORMAT", help="Of predictions. " + FORMAT_HELP)] = "pharaoh",
    gold_format: GoldFormat = "multimwa",
    split: Split = "test",
    by: Annotated[
        str | None, typer.Option(metavar="|".join(get_args(Grouping)), help="Break F1 down in bins of pairs.")
    ] = None,
    bins: Annotated[int, typer.Option(help="How many.")] = 5,
    pairs: Annotated[
        bool, typer.Option("--per-pair", help="With --json: the figures of each pair too.")
    ] = False,
    trials: Annotated[int, typer.Option(help="Resamples for intervals and tests.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Of the resampling.")] = 0,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """Score predictions against gold, nulls counted as the paper does; two or more are also compared.

    Links alone, as of Pharaoh files, take their words from the gold. The first prediction is the baseline
    for the others: difference of F1, its interval, and p by paired bootstrap and approximate randomisation.

    Example: otalign evaluate mine.txt theirs.txt mtref --level possible --data corpora/
    """
    if len(files) < 2:
        raise ValueError(f"give at least one prediction and the gold, got {', '.join(files)}")
    *predictions, gold = files
    golds = read_golds(gold, gold_format, split, data, limits)
    resampling = Resampling(trials, seed)
    counted = {
        name: count(read_predictions(name, format, golds, limits), golds, as_level(level))
        for name in predictions
    }
    more = {"gold": f"{gold}/{split}" if gold in CORPORA else Path(gold).name}
    report: dict[str, Any] = {
        "signature": signature(next(iter(counted.values())), "f1", resampling, more),
        "systems": {name: _system(counts, resampling, by, bins) for name, counts in counted.items()},
        "comparisons": _comparisons(counted, resampling),
    }
    if pairs:
        report["pairs"] = {
            name: {key: values.tolist() for key, values in per_pair(counts).items()}
            for name, counts in counted.items()
        }
    if as_json:
        print(json.dumps(report, indent=2, allow_nan=False))
    else:
        _show(report, by)


def _system(counts: Counts, resampling: Resampling, by: str | None, bins: int) -> dict[str, Any]:
    found: dict[str, Any] = dict(scores(counts))
    found["f1_interval"] = asdict(intervals(counts, ["f1"], resampling)["f1"])
    if by:
        found["bins"] = [
            {"low": part.low, "high": part.high, "pairs": len(part.counts), **scores(part.counts, MAIN)}
            for part in breakdown(counts, by, bins)  # pyright: ignore[reportArgumentType]: it checks `by`
        ]
    return found


def _comparisons(counted: dict[str, Counts], resampling: Resampling) -> list[dict[str, Any]]:
    (baseline, first), *others = counted.items()
    found = []
    for name, counts in others:
        result = compare(first, counts, ["f1"], resampling)["f1"]
        both = {"baseline": baseline, "system": name, "baseline_f1": result.baseline, "f1": result.system}
        p = {"p_bootstrap": result.p_bootstrap, "p_randomisation": result.p_randomisation}
        found.append({**both, "difference": result.difference, "interval": asdict(result.interval), **p})
    return found


def _show(report: dict[str, Any], by: str | None) -> None:
    screen = console()
    for name, found in report["systems"].items():
        table = Table(title=name, title_justify="left", box=None, header_style="bold", pad_edge=False)
        table.add_column("")
        for column in ("precision", "recall", "F1"):
            table.add_column(column, justify="right")
        for label, prefix in (("links and nulls", ""), ("links", "links_"), ("nulls", "nulls_")):
            table.add_row(label, *(_percent(found[prefix + key]) for key in MAIN))
        screen.print(table)
        low, high = found["f1_interval"].values()
        rest = "   ".join(f"{key.replace('_', ' ')} {_percent(found[key])}" for key in OTHERS)
        screen.print(f"F1 between {_percent(low)} and {_percent(high)}   {rest}")
        for part in found.get("bins", ()):
            span = f"{by} {part['low']:.3g} to {part['high']:.3g}"
            screen.print(f"  {span}: F1 {_percent(part['f1'])}, {part['pairs']} pairs")
        screen.print()
    for result in report["comparisons"]:
        low, high = (100 * end for end in result["interval"].values())
        screen.print(
            f"{result['system']} − {result['baseline']}: F1 {100 * result['difference']:+.1f} "
            f"({low:+.1f} to {high:+.1f}), p {result['p_bootstrap']:.4f} (bootstrap), "
            f"{result['p_randomisation']:.4f} (randomisation)"
        )
    screen.print(report["signature"])


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"
