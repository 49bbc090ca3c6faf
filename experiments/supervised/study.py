"""The supervised study: trains the missing models of some rows, and collects the results."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from experiments.columns import COLUMNS, DEVS, Column, dev_levels
from experiments.supervised.context import StudyContext
from experiments.supervised.jobs import list_models, order_jobs
from experiments.supervised.results import Result
from experiments.supervised.rows import ROWS, SupervisedRow
from experiments.supervised.training import Failure, remove_base_models
from experiments.supervised.workers import run_jobs

OnResult = Callable[[Result | Failure, int, int], None]  # called with a result, the number so far, the total


@dataclass(frozen=True, eq=False)
class SupervisedStudy:
    """The results of all rows that are in the folder."""

    context: StudyContext
    seeds: int | None  # number of seeds of all rows; None leaves it to each row
    failures: tuple[Failure, ...] = ()

    def get_results(self, row: SupervisedRow) -> Iterator[Result]:
        """Yield the results of a row, seed by seed."""
        if row.better_of:
            yield from self._choose_better(row)
        yield from filter(None, map(self.context.find_result, list_models(row, self.seeds)))

    def _choose_better(self, row: SupervisedRow) -> Iterator[Result]:
        """Yield the best of the rows for each seed, dev set and level, where all of them have a result."""
        known = {
            (result.model.row, result.model.seed, corpus, level): _restrict(result, corpus, level, row)
            for name in row.better_of
            for result in self.get_results(ROWS[name])
            for corpus, levels in result.dev.items()
            for level in levels
        }
        for seed in range(1, (self.seeds or row.seeds) + 1):
            for dev in ((corpus, level) for corpus in DEVS for level in dev_levels(corpus)):
                results = [known.get((name, seed, *dev)) for name in row.better_of]
                if None not in results:
                    yield max(filter(None, results), key=lambda result: result.dev_f1)

    def list_rows(self) -> list[SupervisedRow]:
        """Return the rows that have a result, in the order of the tables."""
        return [row for row in ROWS.values() if any(self.get_results(row))]

    def group_results(self, row: SupervisedRow, column: Column) -> dict[int, Result]:
        """Return the results of a row that were tested on a column, by seed."""
        return {r.model.seed: r for r in self.get_results(row) if column.key in r.test}

    def find_complete_seeds(self, row: SupervisedRow, columns: Collection[Column] = COLUMNS) -> list[int]:
        """Return the seeds that have results for all of the columns."""
        known = [set(self.group_results(row, column)) for column in columns]
        return sorted(set.intersection(*known))


def _restrict(result: Result, corpus: str, level: str, row: SupervisedRow) -> Result:
    """Return the part of a result for a dev set and a level, as a result of another row."""
    columns = [column for column in COLUMNS if (column.dev, column.level) == (corpus, level)]
    return replace(
        result,
        model=result.model._replace(row=row.name, corpus=corpus, level=level),
        dev={corpus: {level: result.dev[corpus][level]}},
        test={column.key: result.test[column.key] for column in columns},
        reliability={},
    )


def run_study(
    context: StudyContext,
    rows: Collection[str],
    *,
    seeds: int | None = None,
    workers: int = 1,
    on_result: OnResult = lambda result, done, total: None,
) -> SupervisedStudy:
    """Train the missing models of these rows. A failure is reported and does not stop the others."""
    models = [model for name in rows for model in list_models(ROWS[name], seeds)]
    jobs = order_jobs([model for model in models if not context.find_result(model)], context.count_pairs)
    missing = {model for job in jobs for model in job.models if not context.find_result(model)}
    total = len(missing | set(models))
    failures: list[Failure] = []
    for done, result in enumerate(run_jobs(jobs, context, workers), total - len(missing) + 1):
        if isinstance(result, Failure):
            failures.append(result)
        on_result(result, done, total)
    remove_base_models(jobs, context)
    return SupervisedStudy(context, seeds, tuple(failures))
