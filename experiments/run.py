"""The study from start to end: every row on every column, cell by cell, each made once and kept."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

import otalign
from experiments.cells import Cell, Cells
from experiments.choice import EncoderSelection, choose_encoder_settings
from experiments.columns import COLUMNS, DEVS, Column, dev_levels
from experiments.material import Material, StudySource
from experiments.rows import ROWS
from experiments.system import Figures, System, Tuning
from otalign.alignment import Alignment
from otalign.metrics import Counts, count, scores, signature
from otalign.progress import Progress, no_progress
from otalign.tuning import EncoderChoice

CELLS = "cells"  # what progress as a whole is told of
Heard = Callable[[Cell | EncoderSelection], None]  # told of each cell, and of the choice, when it is made


@dataclass(frozen=True, eq=False)
class Study:
    """A folder of cells, and what new ones are made from. `chosen` is None where no row embeds anything."""

    material: Material
    cells: Cells
    chosen: EncoderSelection | None

    def cell(self, row: System, column: Column) -> Cell | None:
        """The cell, if it is made and still what would be made."""
        return None if self._unchosen(row) else self.cells.get(row, column, self.key(row, column))

    def counts(self, row: System, column: Column) -> Counts:
        """What was counted in the test pairs of a cell that is there."""
        return self.cells.counts(row, column, self.key(row, column))

    def rows(self) -> list[System]:
        """The rows that have a cell, in the order of the tables."""
        return [row for row in ROWS.values() if any(self.cell(row, column) for column in COLUMNS)]

    def make_cells(self, row: System) -> Iterator[Cell]:
        """The cells of a row that are missing, as they are made. What levels have in common is made once."""
        choice = self.chosen.choice if self.chosen else EncoderChoice(0)
        for dev in DEVS:
            missing = [c for c in COLUMNS if c.dev == dev and not self.cell(row, c)]
            if not missing:
                continue
            start = time.perf_counter()
            tunings = row.tune(self.material, dev, choice, dev_levels(dev))
            seconds = time.perf_counter() - start
            predicted: dict[str, tuple[list[Alignment], float]] = {}
            for column in missing:
                tuning = tunings[column.level]
                same = json.dumps([column.corpus, tuning.settings])
                if same not in predicted:
                    start = time.perf_counter()
                    found = list(row.align(self.material, column.corpus, tuning))
                    predicted[same] = found, time.perf_counter() - start
                alignments, took = predicted[same]
                counts = count(alignments, self.material.golds(column.corpus, "test"), column.level)
                cell = self._cell(row, column, tuning, counts, {"tuning": seconds, "test": took})
                self.cells.write(row, column, cell, counts)
                yield cell

    def key(self, row: System, column: Column) -> str:
        """A digest of all that decides a cell."""
        splits = [(column.dev, "dev"), (column.corpus, "test")]
        about: list[Any] = [otalign.__version__, column.key]
        if row.embeds:
            assert self.chosen is not None
            about += [self.material.encoder_digest, *self.chosen.choice]
        else:
            splits.append((column.dev, "train"))
        about += [self.material.gold_digest(*split) for split in splits]
        # A title is for the reader.
        said = {field.name: getattr(row, field.name) for field in fields(row) if field.name != "title"}  # pyright: ignore[reportArgumentType]
        return sha256(f"{about} {said}".encode()).hexdigest()

    def _unchosen(self, row: System) -> bool:
        return row.embeds and self.chosen is None

    def _cell(
        self, row: System, column: Column, tuning: Tuning, counts: Counts, seconds: dict[str, float]
    ) -> Cell:
        found = scores(counts, ["precision", "recall"])
        more = {"row": row.name, "corpus": column.corpus, "split": "test"}
        more |= {"tuned_on": f"{column.dev} dev"} if tuning.dev else {}
        return Cell(
            row.name,
            column.corpus,
            column.level,
            tuning.settings,
            signature(counts, more=more | tuning.fields),
            tuning.dev,
            Figures(found["precision"], found["recall"], len(counts)),
            {name: round(value, 2) for name, value in seconds.items()},
            self.key(row, column),
        )


def run_unsupervised(
    source: StudySource,
    folder: Path,
    rows: Sequence[System],
    choices: Sequence[EncoderChoice],
    *,
    progress: Progress = no_progress,
    heard: Heard = lambda _: None,
) -> Study:
    """The study with all cells of these rows made, at the best of the choices of layer and pairing."""
    top = max(choice.layer for choice in choices)
    material = Material(source, folder / "cache", top, progress)
    best = choose_encoder_settings(material, choices) if any(row.embeds for row in rows) else None
    if best:
        heard(best)
    study = Study(material, Cells(folder / "cells"), best)
    done, total = sum(bool(study.cell(row, c)) for row in rows for c in COLUMNS), len(rows) * len(COLUMNS)
    progress(CELLS, done, total)
    for row in rows:
        for cell in study.make_cells(row):
            heard(cell)
            done += 1
            progress(CELLS, done, total)
    return study
