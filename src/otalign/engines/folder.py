"""The folder of a run: shards that are whole or not there, and `run.json`, which says what the run is.

A file gets its name once all of it is on the disk. So a run that was killed at any moment goes on with the
shards that are missing; whatever has another name (`.part-…`) is a leftover. Size and digest of each file
are recorded (`otalign.engines.records`), and a file that no longer matches counts as missing.
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
from otalign.untrusted import read_json

RUN, CENTRE, LEFTOVER = "run.json", "centre.npz", TEMPORARY
ATTEMPTS = ".attempts"  # a mark for each process at its work; one that dies leaves it behind
TRIES = 3  # of a shard, in one run
COUNTS = ("pairs", "shards", "files")  # of the run: what came of it, not what it is


@dataclass(frozen=True)
class Folder:
    path: Path
    form: OutputFormat

    def part(self, number: int) -> Path:
        """The place of a shard. Six digits keep names in order up to a million shards."""
        return self.path / f"part-{number:06d}{self.form.suffix}"

    def write(self, number: int, alignments: Iterable[Alignment]) -> FileRecord:
        """Write a shard.

        Returns:
            Size and digest of what was written; the run is to `record` them.
        """
        with open_atomic(self.part(number)) as file:
            hashing = HashingWriter(file)
            self.form.write(alignments, cast(BinaryIO, hashing))
        return hashing.record

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Make the folder and keep other runs out of it.

        Raises:
            ValueError: Another run is at work in it, or it cannot be written into.
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
        """Mark that a process is at some work, where nobody sees it die.

        Yields:
            How many others have begun the same work and not ended it, the dead among them.
        """
        marks = self.path / ATTEMPTS
        marks.mkdir(exist_ok=True)
        others = len(list(marks.glob(f"{name}-*")))
        mark = marks / f"{name}-{secrets.token_hex(4)}"
        mark.touch()
        try:
            yield others
        finally:
            mark.unlink(missing_ok=True)

    @property
    def said(self) -> dict[str, Any] | None:
        """What the run in the folder says of itself; None where there is none."""
        try:
            said = read_json(self.path / RUN)
            if "shard_size" not in said:
                raise ValueError("it has no shard_size")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except ValueError as error:
            raise ValueError(
                f"{self.path / RUN} is not what a run writes: {error}; give a new folder"
            ) from error
        return said

    def check(self, *, resume: bool) -> None:
        """See that a run may be begun here or, if so wanted, gone on with."""
        if not self.path.exists() or (resume and self.said is not None):
            return
        if not self.path.is_dir():
            raise ValueError(f"{self.path} is a file; give a folder")
        if all(file.name.startswith((LEFTOVER, LOCK)) for file in self.path.iterdir()):
            return  # killed before it said what it is
        if resume:
            raise ValueError(f"--resume found no {RUN} in {self.path}, so no run; give the folder of a run")
        raise ValueError(
            f"{self.path} is there already and not empty; --resume goes on with a run, "
            "another run needs a new folder"
        )

    def begin(self, about: Mapping[str, Any], *, resume: bool) -> "Kept":
        """Make the folder one of this run, or see that it is: another run in it is refused.

        Returns:
            What an earlier run has left that is as it was written, and what is not.
        """
        self.check(resume=resume)
        before = self.said
        if before is None:
            try:
                self._say(about)
            except OSError as error:
                raise ValueError(f"cannot write into {self.path}: {error.strerror}") from error
            before = dict(about)
        for name in sorted((before.keys() | about.keys()) - set(COUNTS)):
            if before.get(name) != about.get(name):
                raise ValueError(
                    f"{self.path} holds another run: its {name} is {_shown(before.get(name))}, "
                    f"and now {_shown(about.get(name))}; go on as it was begun, or give a new folder"
                )
        self._clear()
        return self._verify()

    def _verify(self) -> "Kept":
        """Compare every file with its record. The journal keeps the records of those that match."""
        records = self.records
        damage = {name: record.find_damage(self.path / name) for name, record in records.items()}
        for file in (*self.path.glob("part-*"), *self.path.glob(CENTRE)):
            damage.setdefault(file.name, "there is no record of it")
        whole = sorted(name for name, found in damage.items() if found is None)
        with open_atomic(self.path / JOURNAL) as journal:
            journal.writelines(to_line(name, records[name]) for name in whole)
        if CENTRE not in whole:
            (self.path / CENTRE).unlink(missing_ok=True)
        damaged = sorted(f"{name}: {found}" for name, found in damage.items() if found)
        return Kept(frozenset(whole), tuple(damaged))

    @property
    def records(self) -> dict[str, FileRecord]:
        """Records of all finished files by name. The journal is newer than `run.json`."""
        said = self.said or {}
        return dict(parse_records(said.get("files", {}))) | dict(read_journal(self.path / JOURNAL))

    def record(self, name: str, record: FileRecord) -> None:
        """Add a finished file to the journal. One process alone may do so, that which holds the lock."""
        with (self.path / JOURNAL).open("ab") as journal:
            journal.write(to_line(name, record))

    def finish(self, about: Mapping[str, Any], pairs: int, size: int) -> None:
        """Say what came of the run. Processes that died in it may have left something over."""
        records, shards = self.records, -(-pairs // size)
        names = [self.part(number).name for number in range(shards)]
        for name in names:
            if name not in records or not (self.path / name).exists():
                raise OSError(f"{self.path / name} was written and is gone; --resume writes it again")
        if extra := sorted({file.name for file in self.path.glob("part-*")} - set(names)):
            raise OSError(
                f"{self.path / extra[0]} is not of this run, which has {shards:,} shards; remove it, then "
                "--resume"
            )
        files = {name: records[name]._asdict() for name in (CENTRE, *names) if name in records}
        self._clear()
        self._say({**about, "pairs": pairs, "shards": shards, "files": files})
        (self.path / JOURNAL).unlink(missing_ok=True)

    def _clear(self) -> None:
        for leftover in self.path.glob(f"{LEFTOVER}*"):
            leftover.unlink(missing_ok=True)
        shutil.rmtree(self.path / ATTEMPTS, ignore_errors=True)

    def _say(self, about: Mapping[str, Any]) -> None:
        with open_atomic(self.path / RUN) as file:
            file.write(json.dumps(about, indent=2, ensure_ascii=False, allow_nan=False).encode() + b"\n")

    @property
    def centre(self) -> Centre | None:
        """What all shards are centred on, if it was kept."""
        if not (self.path / CENTRE).is_file():
            return None
        with np.load(self.path / CENTRE, allow_pickle=False) as kept:
            return Centre(kept["mean"], kept.get("stretch"))

    def keep(self, centre: Centre) -> FileRecord:
        """Write the centre; what it returns is to be recorded, as of a shard."""
        arrays = {"mean": centre.mean} | ({} if centre.stretch is None else {"stretch": centre.stretch})
        with open_atomic(self.path / CENTRE) as file:
            hashing = HashingWriter(file)
            np.savez(hashing, allow_pickle=False, **arrays)
        return hashing.record


class Kept(NamedTuple):
    """Files of an earlier run that a resumed run finds."""

    whole: frozenset[str]  # names of files that match their records
    damaged: tuple[str, ...]  # `name: what is wrong`, of those that are to be made anew

    def warn(self, warn: Callable[[str], Any]) -> None:
        """Tell of files that are made anew, in one line, if there are any."""
        if self.damaged:
            files = "1 file is" if len(self.damaged) == 1 else f"{len(self.damaged):,} files are"
            warn(f"{files} damaged or not recorded, and made anew; the first: {self.damaged[0]}")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 200 else text[:200] + "…"
