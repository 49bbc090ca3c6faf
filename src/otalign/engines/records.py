"""Size and SHA-256 of every file that a run has finished, so that damage to one is found.

While a run works, its records are lines of a journal, `.shards.jsonl`: a finished shard costs one line,
however many there are. A finished run has them all in `run.json`. A file without a record, since the run was
killed between the two, is made anew, and has the same bytes. So is one whose record is damaged.
"""

import json
from collections.abc import Iterator
from hashlib import file_digest, sha256
from io import BufferedIOBase
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

JOURNAL = ".shards.jsonl"  # hidden, so that readers of a folder of Parquet pass over it


class FileRecord(NamedTuple):
    """Size and digest of a finished file."""

    bytes: int
    sha256: str

    def find_damage(self, file: Path) -> str | None:
        """Return what is wrong with a file, or None if it is as it was written."""
        try:
            size = file.stat().st_size
            if size != self.bytes:
                return f"{size:,} bytes instead of {self.bytes:,}"
            with file.open("rb") as stream:
                same = file_digest(stream, "sha256").hexdigest() == self.sha256
        except OSError as error:
            return (error.strerror or str(error)).lower()
        return None if same else "other bytes than were written"


class HashingWriter(BufferedIOBase):
    """A binary file to write to that keeps the record of what passes through."""

    def __init__(self, file: BinaryIO):
        self.file, self.size, self.hash = file, 0, sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self.hash.update(data)
        self.size += memoryview(data).nbytes
        return self.file.write(data)

    def tell(self) -> int:
        return self.size

    @property
    def record(self) -> FileRecord:
        return FileRecord(self.size, self.hash.hexdigest())


def to_line(name: str, record: FileRecord) -> bytes:
    return json.dumps({"name": name, **record._asdict()}).encode() + b"\n"


def read_journal(file: Path) -> Iterator[tuple[str, FileRecord]]:
    """Read names and records. A line that is no record, such as half of one after a power cut, is skipped."""
    if not file.exists():
        return
    with file.open("rb") as lines:
        for line in lines:
            try:
                data = json.loads(line)
            except ValueError:
                continue
            if isinstance(data, dict):
                yield from parse_records({data.get("name"): data})


def parse_records(files: object) -> Iterator[tuple[str, FileRecord]]:
    """Read records by name, as in `run.json`; what is no record is skipped."""
    for name, data in files.items() if isinstance(files, dict) else ():
        match name, data:
            case str(), {"bytes": int(size), "sha256": str(digest)}:
                yield name, FileRecord(size, digest)
