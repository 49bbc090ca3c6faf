"""The output folder of a run: complete shards, and `_run.json`, which describes the run.

A file gets its final name once all of it is on disk, so that a run that was killed at any time can continue
with the missing shards; files with other names (`.part-…`) are leftovers. The size and digest of each file
are recorded (`otalign.engines.records`), and a file that no longer matches its record counts as missing. What
is not data has a name that begins with `_` or `.`: pandas, pyarrow and Spark leave it out when they read a
folder of Parquet.
"""

import json
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np

from otalign.alignment import Alignment
from otalign.atomic import TEMPORARY, open_atomic
from otalign.encoders.whitening import Centre
from otalign.engines.lock import LOCK, lock_folder
from otalign.engines.records import JOURNAL, FileRecord, HashingWriter, parse_records, read_journal, to_line
from otalign.io.writing import OutputFormat
from otalign.link_arrays import LinkedPairs
from otalign.untrusted import read_json

RUN, CENTRE = "_run.json", "_centre.npz"
FORMER = {RUN: "run.json", CENTRE: "centre.npz"}  # names in folders of earlier versions
ATTEMPTS = ".attempts"  # a file for each running attempt; a process that dies leaves it behind
TRIES = 3  # attempts per shard, in one run
COUNTS = ("pairs", "shards", "files")  # results in `_run.json`, which do not identify the run


@dataclass(frozen=True)
class Folder:
    """The output folder of a run.

    Attributes:
        path: The folder.
        form: Format of the shards.

    Example:
        >>> from pathlib import Path
        >>> from otalign.engines import Folder, OutputFormat
        >>> Folder(Path("out"), OutputFormat("jsonl.gz")).part(12).name
        'part-000012.jsonl.gz'
    """

    path: Path
    form: OutputFormat

    def part(self, number: int) -> Path:
        """Return the path of a shard. Six digits keep names in order up to a million shards.

        Args:
            number: Number of the shard, from 0.
        """
        return self.path / f"part-{number:06d}{self.form.suffix}"

    def write(self, number: int, alignments: Iterable[Alignment]) -> FileRecord:
        """Write a shard.

        Args:
            number: Number of the shard.
            alignments: Its alignments.

        Returns:
            Size and digest of the file, to be passed to `record`.
        """
        return self._write(number, lambda file: self.form.write(alignments, file))

    def write_linked_pairs(
        self, number: int, linked: Iterable[tuple[LinkedPairs, Iterable[Mapping[str, Any] | None]]]
    ) -> FileRecord:
        """Write a shard of links that are arrays.

        Args:
            number: Number of the shard.
            linked: Its pairs with their links, and the further fields of each pair, chunk by chunk.

        Returns:
            Size and digest of the file.
        """
        return self._write(number, lambda file: self.form.write_linked_pairs(linked, file))

    def _write(self, number: int, write: Callable[[BinaryIO], None]) -> FileRecord:
        with open_atomic(self.part(number)) as file:
            hashing = HashingWriter(file)
            write(cast(BinaryIO, hashing))
        return hashing.record

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Create the folder and keep other runs out of it.

        Yields:
            None, while the folder is locked.

        Raises:
            ValueError: If another run is writing into it, or it cannot be written to.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            (self.path / LOCK).touch()
        except OSError as error:
            raise ValueError(f"cannot write into {self.path}: {error.strerror}") from error
        with lock_folder(self.path):
            yield

    @contextmanager
    def attempt(self, name: str) -> Iterator[int]:
        """Mark an attempt, so that attempts of processes that died can be counted.

        Args:
            name: Name of the task.

        Yields:
            The number of other attempts at the task that have not ended, including those of dead processes.
        """
        folder = self.path / ATTEMPTS
        folder.mkdir(exist_ok=True)
        others = len(list(folder.glob(f"{name}-*")))
        mark = folder / f"{name}-{secrets.token_hex(4)}"
        mark.touch()
        try:
            yield others
        finally:
            mark.unlink(missing_ok=True)

    @property
    def metadata(self) -> dict[str, Any] | None:
        """Content of `_run.json`; None if there is none."""
        try:
            new, former = self.path / RUN, self.path / FORMER[RUN]
            metadata = read_json(former if former.is_file() and not new.exists() else new)
            if "shard_size" not in metadata:
                raise ValueError("it has no shard_size")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except ValueError as error:
            raise ValueError(
                f"{self.path / RUN} does not describe a run: {error}; choose a new folder"
            ) from error
        return metadata

    def check(self, *, resume: bool) -> None:
        """Check that a run can start in the folder or, with `resume`, continue there.

        Args:
            resume: Whether to continue the run in the folder.

        Raises:
            ValueError: If it may not.
        """
        if not self.path.exists() or (resume and self.metadata is not None):
            return
        if not self.path.is_dir():
            raise ValueError(f"{self.path} is a file; choose a folder")
        if all(file.name.startswith((TEMPORARY, LOCK)) for file in self.path.iterdir()):
            return  # a run that was killed before it wrote _run.json
        if resume:
            raise ValueError(f"--resume found no {RUN} in {self.path}; choose the folder of a run")
        raise ValueError(
            f"{self.path} already exists and is not empty; use --resume to continue a run, "
            "or choose a new folder"
        )

    def begin(self, about: Mapping[str, Any], *, resume: bool) -> "PreviousFiles":
        """Write `_run.json`, or check that it describes the same run.

        Args:
            about: Description of the run.
            resume: Whether to continue the run in the folder.

        Returns:
            The files of an earlier run, intact or damaged.

        Raises:
            ValueError: If the folder holds another run, or cannot be written to.
        """
        self.check(resume=resume)
        before = self.metadata
        if before is None:
            try:
                self._write_metadata(about)
            except OSError as error:
                raise ValueError(f"cannot write into {self.path}: {error.strerror}") from error
            before = dict(about)
        for name in sorted((before.keys() | about.keys()) - set(COUNTS)):
            if before.get(name) != about.get(name):
                former, given = (_describe_value(run.get(name)) for run in (before, about))
                raise ValueError(
                    f"{self.path} holds another run: its {name} is {former}, and now {given}; use the same "
                    "options, or choose a new folder"
                )
        self._clear()
        self._rename_former()
        return self._verify()

    def _rename_former(self) -> None:
        """Rename the files of an earlier version to their current names."""
        for name, former in FORMER.items():
            if (self.path / former).is_file() and not (self.path / name).exists():
                (self.path / former).rename(self.path / name)

    def _verify(self) -> "PreviousFiles":
        """Compare every file with its record, and keep only the records of intact files in the journal."""
        records = self.records
        damage = {name: record.find_damage(self.path / name) for name, record in records.items()}
        for file in (*self.path.glob("part-*"), *self.path.glob(CENTRE)):
            damage.setdefault(file.name, "not recorded")
        intact = sorted(name for name, problem in damage.items() if problem is None)
        with open_atomic(self.path / JOURNAL) as journal:
            journal.writelines(to_line(name, records[name]) for name in intact)
        if CENTRE not in intact:
            (self.path / CENTRE).unlink(missing_ok=True)
        damaged = sorted(f"{name}: {problem}" for name, problem in damage.items() if problem)
        return PreviousFiles(frozenset(intact), tuple(damaged))

    @property
    def records(self) -> dict[str, FileRecord]:
        """Records of all finished files by name; the journal is newer than `_run.json`."""
        metadata = self.metadata or {}
        records = dict(parse_records(metadata.get("files", {}))) | dict(read_journal(self.path / JOURNAL))
        present = {former: name for name, former in FORMER.items()}
        return {present.get(name, name): record for name, record in records.items()}

    def record(self, name: str, record: FileRecord) -> None:
        """Add a finished file to the journal. Only the process that holds the lock may do so.

        Args:
            name: Name of the file.
            record: Its size and digest.
        """
        with (self.path / JOURNAL).open("ab") as journal:
            journal.write(to_line(name, record))

    def finish(self, about: Mapping[str, Any], pairs: int, size: int) -> None:
        """Write the results of the run into `_run.json`, and remove leftovers of processes that died.

        Args:
            about: Description of the run.
            pairs: Number of pairs.
            size: Pairs per shard.

        Raises:
            OSError: If a shard is missing, or there is a shard of another run.
        """
        records, shards = self.records, -(-pairs // size)
        names = [self.part(number).name for number in range(shards)]
        for name in names:
            if name not in records or not (self.path / name).exists():
                raise OSError(
                    f"{self.path / name} was written but is missing; use --resume to write it again"
                )
        if extra := sorted({file.name for file in self.path.glob("part-*")} - set(names)):
            raise OSError(
                f"{self.path / extra[0]} does not belong to this run of {shards:,} shards; remove it, then "
                "use --resume"
            )
        files = {name: records[name]._asdict() for name in (CENTRE, *names) if name in records}
        self._clear()
        self._write_metadata({**about, "pairs": pairs, "shards": shards, "files": files})
        (self.path / JOURNAL).unlink(missing_ok=True)

    def _clear(self) -> None:
        for leftover in self.path.glob(f"{TEMPORARY}*"):
            leftover.unlink(missing_ok=True)
        shutil.rmtree(self.path / ATTEMPTS, ignore_errors=True)

    def _write_metadata(self, about: Mapping[str, Any]) -> None:
        with open_atomic(self.path / RUN) as file:
            file.write(json.dumps(about, indent=2, ensure_ascii=False, allow_nan=False).encode() + b"\n")

    @property
    def centre(self) -> Centre | None:
        """The centre of all shards, if it was written."""
        if not (self.path / CENTRE).is_file():
            return None
        with np.load(self.path / CENTRE, allow_pickle=False) as arrays:
            return Centre(arrays["mean"], arrays.get("stretch"))

    def write_centre(self, centre: Centre) -> FileRecord:
        """Write the centre.

        Args:
            centre: The centre.

        Returns:
            Size and digest of the file, to be passed to `record`.
        """
        arrays = {"mean": centre.mean} | ({} if centre.stretch is None else {"stretch": centre.stretch})
        with open_atomic(self.path / CENTRE) as file:
            hashing = HashingWriter(file)
            np.savez(hashing, allow_pickle=False, **arrays)
        return hashing.record


class PreviousFiles(NamedTuple):
    """Files of an earlier run in the folder of a resumed run.

    Attributes:
        intact: Names of files that match their records.
        damaged: `name: problem` of files that will be written again.
    """

    intact: frozenset[str]
    damaged: tuple[str, ...]

    def warn(self, warn: Callable[[str], Any]) -> None:
        """Warn about damaged files in one line, if there are any."""
        if self.damaged:
            files = "1 file is" if len(self.damaged) == 1 else f"{len(self.damaged):,} files are"
            warn(f"{files} damaged or not recorded, and will be written again; the first: {self.damaged[0]}")


def _describe_value(value: object) -> str:
    """Return a value of the description of a run as text; files by their properties."""
    if isinstance(value, list) and all(isinstance(one, dict) for one in value):
        return " and ".join(", ".join(f"{key} {one[key]}" for key in one) for one in value)
    text = repr(value)
    return text if len(text) <= 200 else text[:200] + "…"
