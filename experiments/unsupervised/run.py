"""The unsupervised study: computes every row on every column, cell by cell, and keeps the cells."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

import otalign
from experiments.columns import COLUMNS, DEVS, Column, dev_levels
from experiments.study_data import StudyData, StudySource
from experiments.unsupervised.cells import Cell, CellStore
from experiments.unsupervised.encoder_selection import EncoderSelection, select_encoder_settings
from experiments.unsupervised.rows import ROWS
from experiments.unsupervised.system import Figures, System, Tuning
from otalign.alignment import Alignment
from otalign.metrics import Counts, compute_scores, count, describe_score
from otalign.progress import Progress, no_progress
from otalign.tuning import EncoderChoice

CELLS = "cells"  # name of the overall progress
OnResult = Callable[[Cell | EncoderSelection], None]  # called with each new cell, and with the selection


@dataclass(frozen=True, eq=False)
class Study:
    """A folder of cells, and the inputs of new ones. `chosen` is None if no row needs embeddings."""

    data: StudyData
    cells: CellStore
    chosen: EncoderSelection | None

    def find_cell(self, row: System, column: Column) -> Cell | None:
        """Return the cell, if there is one with the same inputs."""
        if row.embeds and self.chosen is None:
            return None
        return self.cells.get(row, column, self.compute_key(row, column))

    def read_counts(self, row: System, column: Column) -> Counts:
        """Read the counts of a cell in each test pair."""
        return self.cells.read_counts(row, column, self.compute_key(row, column))

    def list_rows(self) -> list[System]:
        """Return the rows that have a cell, in the order of the tables."""
        return [row for row in ROWS.values() if any(self.find_cell(row, column) for column in COLUMNS)]

    def make_cells(self, row: System) -> Iterator[Cell]:
        """Compute and yield the missing cells of a row. Levels with equal settings share their alignments."""
        choice = self.chosen.choice if self.chosen else EncoderChoice(0)
        for dev in DEVS:
            missing = [c for c in COLUMNS if c.dev == dev and not self.find_cell(row, c)]
            if not missing:
                continue
            start = time.perf_counter()
            tunings = row.tune(self.data, dev, choice, dev_levels(dev))
            seconds = time.perf_counter() - start
            predicted: dict[str, tuple[list[Alignment], float]] = {}
            for column in missing:
                tuning = tunings[column.level]
                same = json.dumps([column.corpus, tuning.settings])
                if same not in predicted:
                    start = time.perf_counter()
                    alignments = list(row.align(self.data, column.corpus, tuning))
                    predicted[same] = alignments, time.perf_counter() - start
                alignments, took = predicted[same]
                counts = count(alignments, self.data.get_golds(column.corpus, "test"), column.level)
                cell = self._make_cell(row, column, tuning, counts, {"tuning": seconds, "test": took})
                self.cells.write(row, column, cell, counts)
                yield cell

    def compute_key(self, row: System, column: Column) -> str:
        """Compute a digest of all inputs of a cell."""
        splits = [(column.dev, "dev"), (column.corpus, "test")]
        inputs: list[Any] = [otalign.__version__, column.key]
        if row.embeds:
            assert self.chosen is not None
            inputs += [self.data.encoder_digest, *self.chosen.choice]
        else:
            splits.append((column.dev, "train"))
        inputs += [self.data.digest_golds(*split) for split in splits]
        # The title does not change a cell.
        values = {field.name: getattr(row, field.name) for field in fields(row) if field.name != "title"}  # pyright: ignore[reportArgumentType]
        return sha256(f"{inputs} {values}".encode()).hexdigest()

    def _make_cell(
        self, row: System, column: Column, tuning: Tuning, counts: Counts, seconds: dict[str, float]
    ) -> Cell:
        figures = compute_scores(counts, ["precision", "recall"])
        more = {"row": row.name, "corpus": column.corpus, "split": "test"}
        more |= {"tuned_on": f"{column.dev} dev"} if tuning.dev else {}
        return Cell(
            row.name,
            column.corpus,
            column.level,
            tuning.settings,
            describe_score(counts, more=more | tuning.fields),
            tuning.dev,
            Figures(figures["precision"], figures["recall"], len(counts)),
            {name: round(value, 2) for name, value in seconds.items()},
            self.compute_key(row, column),
        )


def run_study(
    source: StudySource,
    folder: Path,
    rows: Sequence[System],
    choices: Sequence[EncoderChoice],
    *,
    progress: Progress = no_progress,
    on_result: OnResult = lambda _: None,
) -> Study:
    """Compute the missing cells of these rows, with the best choice of layer and pairing."""
    top = max(choice.layer for choice in choices)
    data = StudyData(source, folder / "cache", top, progress)
    best = select_encoder_settings(data, choices) if any(row.embeds for row in rows) else None
    if best:
        on_result(best)
    study = Study(data, CellStore(folder / "cells"), best)
    done = sum(bool(study.find_cell(row, column)) for row in rows for column in COLUMNS)
    total = len(rows) * len(COLUMNS)
    progress(CELLS, done, total)
    for row in rows:
        for cell in study.make_cells(row):
            on_result(cell)
            done += 1
            progress(CELLS, done, total)
    return study
