"""`otalign evaluate`: scores of predictions against gold, and tests of their differences."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from otalign.cli.gold import read_golds
from otalign.cli.input import check_input, read_words
from otalign.cli.options import (
    AsJson,
    DataFolder,
    FormerFormat,
    GoldFormat,
    GoldLevel,
    LinksFormat,
    NoPager,
    Split,
    WordsFiles,
    WordsFormat,
    complete_corpus,
    with_limits,
)
from otalign.cli.panels import INPUT, OUTPUT, SCORING
from otalign.cli.predictions import read_predictions
from otalign.cli.terminal import open_pager, show_activity, wrap
from otalign.io import CORPORA, ReaderLimits
from otalign.io.lines import name_input
from otalign.metrics import (
    MEASURES,
    Counts,
    Grouping,
    Resampling,
    break_down,
    compare,
    compute_intervals,
    compute_scores,
    count,
    describe_score,
    score_pairs,
)
from otalign.quantities import count_noun

TABLE_MEASURES = ("precision", "recall", "f1")  # of each row of the table
TABLE_ROWS = {  # most pairs have no phrase, so phrases are pooled
    "links and nulls": "",
    "links": "links_",
    "nulls": "nulls_",
    "phrases, micro": "micro_phrases_",
    "  soft, micro": "micro_soft_phrases_",
}
SUMMARY_MEASURES = ("exact_match", "micro_f1", "aer")  # below the table


@with_limits
def evaluate(
    limits: ReaderLimits,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="PRED... GOLD",
            help="Files of predictions, then the gold: a file, or the name of a corpus.",
            autocompletion=complete_corpus,
        ),
    ],
    level: GoldLevel = "sure",
    format: LinksFormat = None,
    former_format: FormerFormat = None,
    gold_format: GoldFormat = None,
    words: WordsFiles = None,
    words_format: WordsFormat = None,
    possible: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File of the possible links, in the format of the gold, if that has the sure ones alone.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    split: Split = "test",
    by: Annotated[
        Grouping | None,
        typer.Option(help="Break F1 down by this property of the pairs.", rich_help_panel=SCORING),
    ] = None,
    bins: Annotated[
        int | None,
        typer.Option(metavar="N", help="Number of bins for --by.", show_default="5", rich_help_panel=SCORING),
    ] = None,
    pairs: Annotated[
        bool,
        typer.Option("--per-pair", help="Add the scores of each pair to --json.", rich_help_panel=OUTPUT),
    ] = False,
    trials: Annotated[
        int,
        typer.Option(
            metavar="N", help="Number of resamples for intervals and tests.", rich_help_panel=SCORING
        ),
    ] = 10_000,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Random seed of the resampling.", rich_help_panel=SCORING)
    ] = 0,
    data: DataFolder = None,
    as_json: AsJson = False,
    no_pager: NoPager = False,
) -> None:
    """Score predictions against gold, and compare systems.

    Precision, recall and F1 count links and nulls, as in the paper. A phrase is right if all of its words
    are; soft phrase scores count its overlap with a gold phrase. AER treats sure and possible links
    differently. In formats without words, such as pharaoh, the words are those of the gold; gold without
    words takes them from --words. With several predictions, the first is the baseline of the others: the
    difference of F1, its confidence interval, and p-values by paired bootstrap and approximate randomisation.

    Examples:
        otalign evaluate links.txt gold.tsv
        otalign evaluate mine.txt theirs.txt mtref --level possible --data corpora/
        otalign evaluate links.jsonl gold.tsv --json
        otalign evaluate links.txt g.txt --gold-format talp --words a --words b
    """
    if len(files) < 2:
        raise ValueError(f"give at least one prediction and the gold, got {', '.join(files)}")
    if bins is not None and by is None:
        raise ValueError("--bins applies only with --by; add --by or remove --bins")
    if pairs and not as_json:
        raise ValueError("--per-pair applies only with --json; add --json or remove --per-pair")
    *predictions, gold = files
    beside = read_words(words, words_format, limits)
    golds = read_golds(gold, gold_format, split, data, limits, words=beside, possible=possible)
    resampling = Resampling(trials, seed)
    for name in predictions:
        check_input(name)
    with show_activity("scoring"):
        counted = {
            name: count(read_predictions(name, former_format or format, golds, limits), golds, level)
            for name in predictions
        }
        more = {"gold": f"{gold}/{split}" if gold in CORPORA else Path(gold).name}
        report: dict[str, Any] = {
            "signature": describe_score(next(iter(counted.values())), "f1", resampling, more),
            "systems": {
                name: _score_system(one, resampling, by, 5 if bins is None else bins)
                for name, one in counted.items()
            },
            "comparisons": _compare_systems(counted, resampling),
        }
    if pairs:
        report["pairs"] = {
            name: {key: values.tolist() for key, values in score_pairs(counts).items()}
            for name, counts in counted.items()
        }
    if as_json:
        print(json.dumps(report, indent=2, allow_nan=False))
    else:
        with open_pager(not no_pager, tables=True) as console:
            _show(report, by, console)


def _score_system(counts: Counts, resampling: Resampling, by: Grouping | None, bins: int) -> dict[str, Any]:
    found: dict[str, Any] = dict(compute_scores(counts))
    found["f1_interval"] = asdict(compute_intervals(counts, ["f1"], resampling)["f1"])
    if by:
        found["bins"] = [
            {
                "low": part.low,
                "high": part.high,
                "pairs": len(part.counts),
                **compute_scores(part.counts, TABLE_MEASURES),
            }
            for part in break_down(counts, by, bins)
        ]
    return found


def _compare_systems(counted: dict[str, Counts], resampling: Resampling) -> list[dict[str, Any]]:
    (baseline, first), *others = counted.items()
    found = []
    for name, counts in others:
        result = compare(first, counts, ["f1"], resampling)["f1"]
        both = {"baseline": baseline, "system": name, "baseline_f1": result.baseline, "f1": result.system}
        p = {"p_bootstrap": result.p_bootstrap, "p_randomisation": result.p_randomisation}
        found.append({**both, "difference": result.difference, "interval": asdict(result.interval), **p})
    return found


def _show(report: dict[str, Any], by: str | None, screen: Console) -> None:
    for name, found in report["systems"].items():
        title = name_input(name)
        table = Table(title=title, title_justify="left", box=None, header_style="bold", pad_edge=False)
        table.add_column("")
        for key in TABLE_MEASURES:
            table.add_column(MEASURES[key].label, justify="right")
        for label, prefix in TABLE_ROWS.items():
            table.add_row(label, *(_format_percent(found[prefix + key]) for key in TABLE_MEASURES))
        screen.print(table)
        low, high = found["f1_interval"].values()
        rest = "   ".join(f"{MEASURES[key].label} {_format_percent(found[key])}" for key in SUMMARY_MEASURES)
        interval = f"{_format_percent(low)} to {_format_percent(high)}"
        screen.print(f"95% confidence interval of F1: {interval}")
        screen.print(rest)
        for part in found.get("bins", ()):
            edges = dict.fromkeys(f"{part[end]:.3g}" for end in ("low", "high"))  # one, if they are equal
            span = f"{by} {' to '.join(edges)}"
            screen.print(f"  {span}: F1 {_format_percent(part['f1'])}, {count_noun(part['pairs'], 'pair')}")
        screen.print()
    for result in report["comparisons"]:
        low, high = (100 * end for end in result["interval"].values())
        comparison = (
            f"{result['system']} − {result['baseline']}: F1 {100 * result['difference']:+.1f} "
            f"({low:+.1f} to {high:+.1f}), p {result['p_bootstrap']:.4f} (bootstrap), "
            f"{result['p_randomisation']:.4f} (randomisation)"
        )
        screen.print(wrap(comparison, "  "))
    screen.print(report["signature"])


def _format_percent(share: float) -> str:
    return f"{100 * share:.1f}"
