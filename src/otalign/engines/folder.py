"""The folder of a run: shards that are whole or not there, and `run.json`, which says what the run is.

A file gets its name once all of it is on the disk. So a run that was killed at any moment goes on with the
shards that are missing; whatever has another name (`.part-…`) is a leftover.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from otalign.alignment import Alignment
from otalign.atomic import TEMPORARY, open_atomic
from otalign.centring import Centre
from otalign.engines.forms import Form

RUN, CENTRE, LEFTOVER = "run.json", "centre.npz", TEMPORARY
TRIES = 3  # of a shard, in one run
COUNTS = ("pairs", "shards")  # of the run: what came of it, not what it is


@dataclass(frozen=True)
class Folder:
    path: Path
    form: Form

    def part(self, number: int) -> Path:
        """The place of a shard. Six digits keep names in order up to a million shards."""
        return self.path / f"part-{number:06d}{self.form.suffix}"

    def write(self, number: int, alignments: Iterable[Alignment]) -> None:
        """Write a shard, unless too many processes died of it: each has left something over."""
        part = self.part(number)
        if len(list(self.path.glob(f"{LEFTOVER}{part.name}-*"))) >= TRIES:
            raise OSError(
                f"{TRIES} processes died while they aligned {part.name}; with too little memory, give fewer "
                "--processes or a smaller --batch-size"
            )
        with open_atomic(part) as file:
            self.form.write(alignments, file)

    @property
    def said(self) -> dict[str, Any] | None:
        """What the run in the folder says of itself; None where there is none."""
        try:
            said = json.loads((self.path / RUN).read_text(encoding="utf-8"))
            if not isinstance(said, dict) or "shard_size" not in said:
                raise ValueError("it has no shard_size")
        except FileNotFoundError:
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
        if all(file.name.startswith(LEFTOVER) for file in self.path.iterdir()):
            return  # killed before it said what it is
        if resume:
            raise ValueError(f"--resume found no {RUN} in {self.path}, so no run; give the folder of a run")
        raise ValueError(
            f"{self.path} is there already and not empty; --resume goes on with a run, "
            "another run needs a new folder"
        )

    def begin(self, about: Mapping[str, Any], *, resume: bool) -> None:
        """Make the folder one of this run, or see that it is: another run in it is refused."""
        self.check(resume=resume)
        before = self.said
        if before is None:
            try:
                self.path.mkdir(parents=True, exist_ok=True)
                self._say(about)
            except OSError as error:
                raise ValueError(f"cannot write into {self.path}: {error.strerror}") from error
            self._clear()
            return
        for name in sorted((before.keys() | about.keys()) - set(COUNTS)):
            if before.get(name) != about.get(name):
                raise ValueError(
                    f"{self.path} holds another run: its {name} is {_shown(before.get(name))}, "
                    f"and now {_shown(about.get(name))}; go on as it was begun, or give a new folder"
                )
        self._clear()

    def finish(self, about: Mapping[str, Any], pairs: int, size: int) -> None:
        """Say what came of the run. Processes that died in it may have left something over."""
        shards = -(-pairs // size)
        lost = [number for number in range(shards) if not self.part(number).exists()]
        if lost:
            raise OSError(f"{self.part(lost[0])} was written and is gone; --resume writes it again")
        self._clear()
        self._say({**about, "pairs": pairs, "shards": shards})

    def _clear(self) -> None:
        for leftover in self.path.glob(f"{LEFTOVER}*"):
            leftover.unlink(missing_ok=True)

    def _say(self, about: Mapping[str, Any]) -> None:
        with open_atomic(self.path / RUN) as file:
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
        with open_atomic(self.path / CENTRE) as file:
            np.savez(file, allow_pickle=False, **arrays)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 200 else text[:200] + "…"
