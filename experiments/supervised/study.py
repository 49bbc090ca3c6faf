"""The supervised study from start to end: all models of some rows, each made once and kept."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from experiments.columns import COLUMNS, DEVS, Column, dev_levels
from experiments.supervised.ground import Ground
from experiments.supervised.jobs import order_jobs, places
from experiments.supervised.making import Failure, forget
from experiments.supervised.results import Result
from experiments.supervised.rows import ROWS, SupervisedRow
from experiments.supervised.workers import run_jobs

Heard = Callable[[Result | Failure, int, int], None]  # told of each, how many are over, and of how many


@dataclass(frozen=True, eq=False)
class Supervised:
    """The results that are there, of all rows."""

    ground: Ground
    seeds: int | None  # of all rows, where each has not its own number
    failures: tuple[Failure, ...] = ()

    def of_row(self, row: SupervisedRow) -> Iterator[Result]:
        """Seed by seed."""
        if row.better_of:
            yield from self._better(row)
        yield from filter(None, map(self.ground.result, places(row, self.seeds)))

    def _better(self, row: SupervisedRow) -> Iterator[Result]:
        """For each seed, dev set and level, that of the rows with the highest F1 there, if all are made."""
        known = {
            (one.place.row, one.place.seed, corpus, level): _on(one, corpus, level, row)
            for name in row.better_of
            for one in self.of_row(ROWS[name])
            for corpus, levels in one.dev.items()
            for level in levels
        }
        for seed in range(1, (self.seeds or row.seeds) + 1):
            for place in ((corpus, level) for corpus in DEVS for level in dev_levels(corpus)):
                those = [known.get((name, seed, *place)) for name in row.better_of]
                if None not in those:
                    yield max(filter(None, those), key=lambda one: one.dev_f1)

    def rows(self) -> list[SupervisedRow]:
        """Those that have a result, in the order of the tables."""
        return [row for row in ROWS.values() if any(self.of_row(row))]

    def group_results(self, row: SupervisedRow, column: Column) -> dict[int, Result]:
        """The results of a row that were tested on a column."""
        return {one.place.seed: one for one in self.of_row(row) if column.key in one.test}

    def whole_seeds(self, row: SupervisedRow, columns: Collection[Column] = COLUMNS) -> list[int]:
        """The seeds that have all of the columns."""
        known = [set(self.group_results(row, column)) for column in columns]
        return sorted(set.intersection(*known))


def _on(result: Result, corpus: str, level: str, row: SupervisedRow) -> Result:
    """What a result says of a dev set at a level and the columns that it decides for, as of another row."""
    columns = [column for column in COLUMNS if (column.dev, column.level) == (corpus, level)]
    return replace(
        result,
        place=result.place._replace(row=row.name, corpus=corpus, level=level),
        dev={corpus: {level: result.dev[corpus][level]}},
        test={column.key: result.test[column.key] for column in columns},
        reliability={},
    )


def run_supervised(
    ground: Ground,
    rows: Collection[str],
    *,
    seeds: int | None = None,
    workers: int = 1,
    heard: Heard = lambda made, over, of: None,
) -> Supervised:
    """The study with all models of these rows made. What fails is told, and keeps nothing else from being."""
    wanted = [place for name in rows for place in places(ROWS[name], seeds)]
    jobs = order_jobs([place for place in wanted if not ground.result(place)], ground.size)
    missing = {place for job in jobs for place in job.places if not ground.result(place)}
    total = len(missing | set(wanted))
    failures: list[Failure] = []
    for over, made in enumerate(run_jobs(jobs, ground, workers), total - len(missing) + 1):
        if isinstance(made, Failure):
            failures.append(made)
        heard(made, over, total)
    forget(jobs, ground)
    return Supervised(ground, seeds, tuple(failures))
