"""The supervised study: trains the missing models of some rows, and collects the results."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from experiments.columns import COLUMNS, DEVS, Column, dev_levels
from experiments.supervised.context import Ground
from experiments.supervised.jobs import order_jobs, places
from experiments.supervised.results import Result
from experiments.supervised.rows import ROWS, SupervisedRow
from experiments.supervised.training import Failure, forget
from experiments.supervised.workers import run_jobs

OnResult = Callable[[Result | Failure, int, int], None]  # called with a result, the number so far, the total


@dataclass(frozen=True, eq=False)
class Supervised:
    """The results of all rows that are in the folder."""

    ground: Ground
    seeds: int | None  # number of seeds of all rows; None leaves it to each row
    failures: tuple[Failure, ...] = ()

    def of_row(self, row: SupervisedRow) -> Iterator[Result]:
        """Yield the results of a row, seed by seed."""
        if row.better_of:
            yield from self._choose_better(row)
        yield from filter(None, map(self.ground.result, places(row, self.seeds)))

    def _choose_better(self, row: SupervisedRow) -> Iterator[Result]:
        """Yield the best of the rows for each seed, dev set and level, where all of them have a result."""
        known = {
            (result.place.row, result.place.seed, corpus, level): _restrict(result, corpus, level, row)
            for name in row.better_of
            for result in self.of_row(ROWS[name])
            for corpus, levels in result.dev.items()
            for level in levels
        }
        for seed in range(1, (self.seeds or row.seeds) + 1):
            for place in ((corpus, level) for corpus in DEVS for level in dev_levels(corpus)):
                results = [known.get((name, seed, *place)) for name in row.better_of]
                if None not in results:
                    yield max(filter(None, results), key=lambda result: result.dev_f1)

    def rows(self) -> list[SupervisedRow]:
        """Return the rows that have a result, in the order of the tables."""
        return [row for row in ROWS.values() if any(self.of_row(row))]

    def group_results(self, row: SupervisedRow, column: Column) -> dict[int, Result]:
        """Return the results of a row that were tested on a column, by seed."""
        return {r.place.seed: r for r in self.of_row(row) if column.key in r.test}

    def whole_seeds(self, row: SupervisedRow, columns: Collection[Column] = COLUMNS) -> list[int]:
        """Return the seeds that have all of the columns."""
        known = [set(self.group_results(row, column)) for column in columns]
        return sorted(set.intersection(*known))


def _restrict(result: Result, corpus: str, level: str, row: SupervisedRow) -> Result:
    """Return the part of a result for a dev set and a level, as a result of another row."""
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
    on_result: OnResult = lambda result, done, total: None,
) -> Supervised:
    """Train the missing models of these rows. A failure is reported and does not stop the others."""
    wanted = [place for name in rows for place in places(ROWS[name], seeds)]
    jobs = order_jobs([place for place in wanted if not ground.result(place)], ground.size)
    missing = {place for job in jobs for place in job.places if not ground.result(place)}
    total = len(missing | set(wanted))
    failures: list[Failure] = []
    for done, result in enumerate(run_jobs(jobs, ground, workers), total - len(missing) + 1):
        if isinstance(result, Failure):
            failures.append(result)
        on_result(result, done, total)
    forget(jobs, ground)
    return Supervised(ground, seeds, tuple(failures))
