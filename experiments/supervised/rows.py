"""The rows of the supervised study: systems with their recipes, corpora and numbers of seeds.

`TRIES` has the settings that are tried for the paper's transport problems and for the peers. To add a row,
add a value to `MAIN`, whose rows are tested, or to `ABLATION`, whose rows are only scored on dev sets.
"""

from dataclasses import dataclass
from fnmatch import fnmatch
from typing import NamedTuple

from experiments.peers.settings import Peer
from experiments.peers.training import RECIPES
from otalign.ot import Balanced, Partial, Problem, Unbalanced
from otalign.settings import Learned
from otalign.training import FURTHER, NO_AUGMENTATION, Recipe, choose_recipe


class Try(NamedTuple):
    """Settings that the first seed tries; the best on the dev set is used by the other seeds too."""

    problem: Problem | Learned | Peer
    learning_rate: float


TRIES: dict[str, tuple[Try, ...]] = {
    "bot": (Try(Balanced(), 1e-4),),
    "pot": (Try(Partial(0.8), 1e-4), Try(Partial(1.0), 1e-4)),
    "uot": (Try(Unbalanced(0.4), 5e-5), Try(Unbalanced(0.4), 1e-4)),  # 2e-4 fails with some seeds
    "semi-crf": (Try("semi-crf", 1e-4),),  # 2e-5, 5e-5 and 2e-4 are worse
    "span-prediction": (Try("span-prediction", 5e-5),),
}


@dataclass(frozen=True, kw_only=True)
class SupervisedRow:
    """A system.

    A row with `after` starts from the models of another row. A row with `better_of` has no models of its own:
    for each dev set and level it uses the best of the others.
    """

    name: str
    title: str
    tries: tuple[Try, ...]
    recipe: Recipe
    seeds: int
    by_level: bool = False  # a model for each level, or one for both
    together: bool = False  # one training on all corpora, or one on each
    tuned: bool = True  # thresholds are those of the column's dev set, or the model's own
    tested: bool = True
    refit: bool = False  # trained again with the dev sets, with the choices of the row of that name
    after: str | None = None
    better_of: tuple[str, ...] = ()


def _level_row(name: str, title: str, seeds: int) -> SupervisedRow:
    """Return a row that learns one level at a time, with the recipe of its tries."""
    tries = TRIES[name]
    problem = tries[0].problem
    recipe = RECIPES[problem] if isinstance(problem, str) else choose_recipe(problem)
    return SupervisedRow(name=name, title=title, tries=tries, recipe=recipe, seeds=seeds, by_level=True)


# The study trains on gold alone, without augmentation.
PLAIN, PLAIN_FURTHER = (recipe.replace(augmentation=NO_AUGMENTATION) for recipe in (Recipe(), FURTHER))


def _learned_row(name: str, title: str, seeds: int, recipe: Recipe = PLAIN, **options) -> SupervisedRow:
    tries = (Try(Learned(), recipe.learning_rate),)
    return SupervisedRow(name=name, title=title, tries=tries, recipe=recipe, seeds=seeds, **options)


def _ablation_row(name: str, title: str, **changes) -> SupervisedRow:
    """Return the row of all corpora with one change."""
    recipe = PLAIN.replace(**changes)
    return _learned_row(f"ablation-{name}", title, 2, recipe, together=True, tested=False)


UNION, FURTHER_ROW, REFIT_ROW = "learned-union", "learned-further", "learned-refit"
MAIN = (
    _level_row("semi-crf", "Semi-Markov CRF (Lan et al. 2021)", 3),
    _level_row("span-prediction", "Span prediction (Nagata et al. 2020)", 3),
    _level_row("bot", "BOT", 3),
    _level_row("pot", "POT", 3),
    _level_row("uot", "UOT", 5),
    _learned_row("learned", "Learned, each corpus alone", 3),
    _learned_row(UNION, "Learned, all corpora", 5, together=True),
    _learned_row(
        "learned-one", "Learned, all corpora, one threshold", 5, together=True, tuned=False, after=UNION
    ),
    _learned_row(
        FURTHER_ROW, "Learned, all corpora, then each", 5, PLAIN_FURTHER, by_level=True, after=UNION
    ),
    _learned_row(REFIT_ROW, "Learned, all corpora, dev sets too", 5, together=True, refit=True, after=UNION),
    _learned_row(
        "learned-further-refit",
        "Learned, all corpora, then each, dev sets too",
        5,
        PLAIN_FURTHER,
        by_level=True,
        refit=True,
        after=UNION,
    ),
    _learned_row("learned-best", "Learned, the better of the two on dev", 5, better_of=(UNION, FURTHER_ROW)),
    _learned_row(
        "learned-best-refit",
        "Learned, the better of the two on dev, dev sets too",
        5,
        refit=True,
        better_of=(REFIT_ROW, "learned-further-refit"),
    ),
)
ABLATION = (
    _ablation_row("competition", "without competition", ablate=("competition",)),
    _ablation_row("prices", "without prices", ablate=("prices",)),
    _ablation_row("neighbours", "without neighbours", ablate=("neighbours",)),
    _ablation_row("layers", "the last layer alone", layers=1),
    _ablation_row("average", "weights not averaged", ema_share=0.0),
    _ablation_row("directions", "one direction", both_directions=False),
)
ROWS = {row.name: row for row in (*MAIN, *ABLATION)}
FIRST = (UNION, "uot", "bot", "pot", "learned", "semi-crf", "span-prediction")  # whose jobs come first


def select_rows(patterns: str) -> tuple[str, ...]:
    """Return the names of rows in a comma-separated list: `main`, `all`, names, or patterns such as uot*."""
    names: set[str] = set()
    for pattern in (part.strip() for part in patterns.split(",")):
        if pattern in ("main", "all"):
            found = {row.name for row in (MAIN if pattern == "main" else ROWS.values())}
        else:
            found = {name for name in ROWS if fnmatch(name, pattern)}
        if not found:
            raise ValueError(f"rows must be main, all, or one of {', '.join(ROWS)}; got {pattern!r}")
        names |= found.union(*(ROWS[name].better_of for name in found))
    return tuple(name for name in ROWS if name in names)
