"""The supervised study from start to end: all models of some rows, each made once and kept."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from otalign.study.columns import COLUMNS, Column
from otalign.study.supervised.ground import Ground
from otalign.study.supervised.jobs import ordered, places
from otalign.study.supervised.making import Failure
from otalign.study.supervised.results import Result
from otalign.study.supervised.rows import ROWS, Row
from otalign.study.supervised.workers import done

Heard = Callable[[Result | Failure, int, int], None]  # told of each, how many are over, and of how many


@dataclass(frozen=True, eq=False)
class Supervised:
    """The results that are there, of all rows."""

    ground: Ground
    seeds: int | None  # of all rows, where each has not its own number
    failures: tuple[Failure, ...] = ()

    def of_row(self, row: Row) -> Iterator[Result]:
        """Seed by seed."""
        yield from filter(None, map(self.ground.result, places(row, self.seeds)))

    def rows(self) -> list[Row]:
        """Those that have a result, in the order of the tables."""
        return [row for row in ROWS.values() if any(self.of_row(row))]

    def by_seed(self, row: Row, column: Column) -> dict[int, Result]:
        """The results of a row that were tested on a column."""
        return {one.place.seed: one for one in self.of_row(row) if column.key in one.test}

    def whole_seeds(self, row: Row, columns: Collection[Column] = COLUMNS) -> list[int]:
        """The seeds that have all of the columns."""
        known = [set(self.by_seed(row, column)) for column in columns]
        return sorted(set.intersection(*known))


def supervised(
    ground: Ground,
    rows: Collection[str],
    *,
    seeds: int | None = None,
    workers: int = 1,
    heard: Heard = lambda made, over, of: None,
) -> Supervised:
    """The study with all models of these rows made. What fails is told, and keeps nothing else from being."""
    wanted = [place for name in rows for place in places(ROWS[name], seeds)]
    jobs = ordered([place for place in wanted if not ground.result(place)], ground.size)
    missing = {place for job in jobs for place in job.places if not ground.result(place)}
    total = len(missing | set(wanted))
    failures: list[Failure] = []
    for over, made in enumerate(done(jobs, ground, workers), total - len(missing) + 1):
        if isinstance(made, Failure):
            failures.append(made)
        heard(made, over, total)
    return Supervised(ground, seeds, tuple(failures))
