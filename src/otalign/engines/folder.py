"""The folder of a run: shards that are whole or not there, and `run.json`, which says what the run is.

A file gets its name once all of it is on the disk. So a run that was killed at any moment goes on with the
shards that are missing; whatever has another name (`.part-…`) is a leftover.
"""

import json
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from otalign.alignment import Alignment
from otalign.centring import Centre
from otalign.engines.forms import Form

RUN, CENTRE = "run.json", "centre.npz"
COUNTS = ("pairs", "shards")  # of the run: what came of it, not what it is


@dataclass(frozen=True)
class Folder:
    path: Path
    form: Form

    def part(self, number: int) -> Path:
        """The place of a shard. Six digits keep names in order up to a million shards."""
        return self.path / f"part-{number:06d}{self.form.suffix}"

    def write(self, number: int, alignments: Iterable[Alignment]) -> None:
        with _whole(self.part(number)) as file:
            self.form.write(alignments, file)

    @property
    def said(self) -> dict[str, Any] | None:
        """What the run in the folder says of itself; None where there is none."""
        try:
            return json.loads((self.path / RUN).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise ValueError(f"{self.path / RUN} is not what a run writes: {error}") from error

    def begin(self, about: Mapping[str, Any], *, resume: bool) -> None:
        """Make the folder one of this run, or see that it is: another run in it is refused."""
        before = self.said
        if before is None or not resume:
            if self.path.is_dir() and any(self.path.iterdir()):
                raise ValueError(
                    f"{self.path} is there already and not empty; --resume goes on with a run, "
                    "another run needs a new folder"
                )
            self.path.mkdir(parents=True, exist_ok=True)
            self.say(about)
            return
        for name in sorted((before.keys() | about.keys()) - set(COUNTS)):
            if before.get(name) != about.get(name):
                raise ValueError(
                    f"{self.path} holds another run: its {name} is {_shown(before.get(name))}, "
                    f"and now {_shown(about.get(name))}; go on as it was begun, or give a new folder"
                )
        self._clear()

    def finish(self, about: Mapping[str, Any]) -> None:
        """Say what came of the run. Processes that died in it may have left something over."""
        self._clear()
        self.say(about)

    def _clear(self) -> None:
        for leftover in self.path.glob(".part-*"):
            leftover.unlink(missing_ok=True)

    def say(self, about: Mapping[str, Any]) -> None:
        with _whole(self.path / RUN) as file:
            file.write(json.dumps(about, indent=2, ensure_ascii=False).encode() + b"\n")

    @property
    def centre(self) -> Centre | None:
        """What all shards are centred on, if it was kept."""
        if not (self.path / CENTRE).is_file():
            return None
        with np.load(self.path / CENTRE, allow_pickle=False) as kept:
            return Centre(kept["mean"], kept.get("stretch"))

    def keep(self, centre: Centre) -> None:
        arrays = {"mean": centre.mean} | ({} if centre.stretch is None else {"stretch": centre.stretch})
        with _whole(self.path / CENTRE) as file:
            np.savez(file, allow_pickle=False, **arrays)


@contextmanager
def _whole(path: Path) -> Iterator[BinaryIO]:
    """A file that is at its place once all of it is on the disk, and not before."""
    part = path.with_name(
        f".part-{path.name}-{secrets.token_hex(4)}"
    )  # two may write the same: Ray's retries
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    if os.name == "posix":  # elsewhere a folder cannot be opened, and need not be
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 200 else text[:200] + "…"
