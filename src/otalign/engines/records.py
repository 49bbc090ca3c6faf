"""Size and SHA-256 of every finished file of a run, by which damaged files are found.

During a run, records are lines of a journal, `.shards.jsonl`, so that a finished shard costs one line however
many there are. A finished run has all of them in `_run.json`. A file without a record, because the run was
killed between the two, or with a damaged one is written again, with the same bytes.
"""

import json
from collections.abc import Iterator
from hashlib import file_digest, sha256
from io import BufferedIOBase
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

JOURNAL = ".shards.jsonl"  # hidden, so that Parquet readers of the folder ignore it


class FileRecord(NamedTuple):
    """Size and digest of a finished file."""

    bytes: int
    sha256: str

    def find_damage(self, file: Path) -> str | None:
        """Compare a file with the record.

        Args:
            file: The file.

        Returns:
            What is wrong with it, or None if it is intact.
        """
        try:
            size = file.stat().st_size
            if size != self.bytes:
                return f"{size:,} bytes instead of {self.bytes:,}"
            with file.open("rb") as stream:
                same = file_digest(stream, "sha256").hexdigest() == self.sha256
        except OSError as error:
            return (error.strerror or str(error)).lower()
        return None if same else "its content has changed"


class HashingWriter(BufferedIOBase):
    """A binary file to write to that computes the record of its content."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.size, self.hash = file, 0, sha256()

    def writable(self) -> bool:
        """Return True: it is a file to write to."""
        return True

    def write(self, data: Any, /) -> int:
        """Write bytes, and add them to the digest."""
        self.hash.update(data)
        self.size += memoryview(data).nbytes
        return self.file.write(data)

    def tell(self) -> int:
        """Return the number of bytes written."""
        return self.size

    @property
    def record(self) -> FileRecord:
        """Size and digest of what was written so far."""
        return FileRecord(self.size, self.hash.hexdigest())


def to_line(name: str, record: FileRecord) -> bytes:
    """Format a record as a line of the journal."""
    return json.dumps({"name": name, **record._asdict()}).encode() + b"\n"


def read_journal(file: Path) -> Iterator[tuple[str, FileRecord]]:
    """Read names and records, skipping invalid lines such as an incomplete one after a power cut."""
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
    """Parse records by name, as in `_run.json`, skipping invalid ones."""
    for name, data in files.items() if isinstance(files, dict) else ():
        match name, data:
            case str(), {"bytes": int(size), "sha256": str(digest)}:
                yield name, FileRecord(size, digest)
