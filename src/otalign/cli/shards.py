"""`otalign align -o folder/`: a corpus of any size into shards, by local processes or Ray, resumable."""

import math
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from otalign import engines, models
from otalign.cli.aligner_options import AlignerOptions
from otalign.cli.input import Pairs
from otalign.cli.methods import load_method
from otalign.cli.terminal import resumable, show_bars
from otalign.encoders import EXPORTED
from otalign.engines import Folder, OutputFormat, RayOptions, ShardWork
from otalign.engines.work import SIZE
from otalign.engines.workers import count_helpers
from otalign.io import Item, Reading
from otalign.io.lines import STDIN
from otalign.io.links import split_lines
from otalign.io.parquet import Rows
from otalign.io.tables import zip_lines
from otalign.method import Method
from otalign.processes import count_processors
from otalign.progress import Progress, no_progress

HEAD_BYTES = 1 << 20  # first bytes of a file, which identify it together with its size
PROCESSORS = 4  # for each process by default; with more, Python takes most of the time

OPTIONS = {"engine": "--engine", "size": "--shard-size", "processes": "--processes", "resume": "--resume"}


@dataclass(frozen=True)
class ShardOptions:
    """The options for shards and for the processes that make them; None stands for one that was not given."""

    engine: str | None = None
    size: int | None = None
    processes: int | None = None
    resume: bool = False
    ray_address: str | None = None
    gpus: float | None = None
    workers: int | None = None

    def __post_init__(self) -> None:
        for name in ("ray_address", "gpus"):
            if getattr(self, name) is not None and self.engine != "ray":
                option = "--" + name.replace("_", "-")
                raise ValueError(f"{option} applies only to --engine ray; remove it or choose ray")
        if self.workers and (self.processes or self.engine == "ray"):
            given = "--processes" if self.processes else "--engine ray"
            raise ValueError(f"--workers share one model, which is not for {given}; remove one of the two")

    def selects_shards(self, output: str | None) -> bool:
        """Return whether to write shards: the output is a folder, or an option for shards was given."""
        if output and (output.endswith(("/", os.sep)) or Path(output).is_dir()):
            return True
        if self == ShardOptions(workers=self.workers):
            return False
        if not output or output == STDIN or Path(output).is_file():
            given = next(option for name, option in OPTIONS.items() if getattr(self, name))
            raise ValueError(
                f"{given} applies only to a folder as output, got {output or 'none'}; "
                f"give -o FOLDER/ or remove {given}"
            )
        return True


def align_in_shards(
    read: Callable[..., Pairs], aligner: AlignerOptions, folder: Folder, options: ShardOptions
) -> None:
    """Align pairs into a folder.

    Args:
        read: Reads the pairs: `read_pairs` with all arguments but `read_before`.
        aligner: The aligner.
        folder: The folder to write.
        options: The options for shards.

    Raises:
        ValueError: The options do not fit each other, the input, or the run in the folder.
    """
    if aligner.method == "fast-align":
        raise ValueError("--method fast-align learns from all pairs at once, so not in shards; give -o FILE")
    folder.check(resume=options.resume)
    before = folder.metadata or {}
    if before:
        with folder.lock():  # another run at work in it is found before the input is read through
            pass
    pairs = read(read_before=not before)
    if not pairs.rereadable and (options.resume or options.engine == "ray"):
        option = "--resume" if options.resume else "--engine ray"
        raise ValueError(
            f"{option} reads the input from its beginning; give a file, not a pipe or standard input"
        )
    pairs = replace(pairs, count=pairs.count or before.get("pairs"))
    with (
        resumable(f"{folder.path} keeps its complete shards; continue with --resume"),
        show_bars() as progress,
    ):
        size = options.size or before.get("shard_size", SIZE)
        _align(pairs, aligner, folder, options, size, progress)


def _align(
    pairs: Pairs,
    aligner: AlignerOptions,
    folder: Folder,
    options: ShardOptions,
    size: int,
    progress: Progress,
) -> None:
    """Align by the chosen engine."""
    about = _describe_run(pairs, folder.form, aligner)
    shards = math.inf if pairs.count is None else math.ceil(pairs.count / size)
    processes = _choose_processes(options, aligner, shards)
    if options.ray_address:
        threads = aligner.threads or 1  # of machines that are not this one
    else:
        threads = max(1, (aligner.threads or count_processors()) // processes)
    aligner = replace(aligner, threads=threads)
    ray = None
    if options.engine == "ray":
        pairs, aligner, folder = _make_absolute(pairs, aligner, folder)
        ray = RayOptions(threads, options.gpus or 0, options.ray_address)
    engines.align(
        pairs.items,
        ShardWork(folder, partial(_load_method, aligner), pairs.pretokenized, _name_unit(pairs.items)),
        about,
        size=size,
        processes=processes,
        workers=_choose_workers(options, aligner) if processes == 1 else 0,
        ray=ray,
        resume=options.resume,
        progress=progress,
        warn=lambda line: print(f"otalign: {line}", file=sys.stderr),
    )


def _choose_processes(options: ShardOptions, aligner: AlignerOptions, shards: float) -> int:
    """Return the number of processes with the model: several where there are many processors.

    Only exported encoders give the same links with any number of threads.
    """
    if options.processes or options.workers is not None or options.engine == "ray":
        return options.processes or 1
    if aligner.method != "ot" or not (Path(models.resolve_model(aligner.model)) / EXPORTED).is_file():
        return 1
    processors = aligner.threads or count_processors()
    return int(max(1, min(processors // PROCESSORS, shards)))


def _choose_workers(options: ShardOptions, aligner: AlignerOptions) -> int | None:
    """Return the number of workers beside the model; None if it depends on the device of the model."""
    if options.processes is not None or options.workers is not None:
        return options.workers or 0
    on_gpu = aligner.method == "ot" and (aligner.device or "").startswith("cuda")
    return count_helpers() if on_gpu else None  # a known number of workers starts while the model is loaded


def _name_unit(items: Iterable[Item]) -> str:
    """Return what errors call an item: where each line of a file is one, its number is that of the line."""
    if isinstance(items, Rows):
        return "row"
    by_line = isinstance(items, Reading) and items.format.records in (split_lines, zip_lines)
    return "line" if by_line else "pair"


def _load_method(options: AlignerOptions) -> Method:
    return load_method(options, [], no_progress)


def _make_absolute(
    pairs: Pairs, aligner: AlignerOptions, folder: Folder
) -> tuple[Pairs, AlignerOptions, Folder]:
    """Return the same with absolute paths, for processes that are started in other folders."""
    items = pairs.items
    if isinstance(items, Reading):
        items = replace(items, paths=tuple(os.path.abspath(path) for path in items.paths))
    elif isinstance(items, Rows):
        items = replace(items, path=os.path.abspath(items.path))
    if aligner.model and Path(aligner.model).is_dir():
        aligner = replace(aligner, model=os.path.abspath(aligner.model))
    return replace(pairs, items=items), aligner, replace(folder, path=folder.path.absolute())


def _describe_run(pairs: Pairs, form: OutputFormat, aligner: AlignerOptions) -> dict[str, Any]:
    """Return what must not change when a run is resumed, except the settings of the aligner."""
    model = Path(models.resolve_model(aligner.model))
    return {
        "input": [_describe_file(file) for file in pairs.files],
        "pretokenized": pairs.pretokenized,
        "pairs": pairs.count,
        "model": models.compute_digests(model) if model.is_dir() else str(aligner.model),
        "batch_size": aligner.batch_size,
        "precision": aligner.precision or "float32",
        "format": form.name,
        "weights": form.weights,
        "nulls": form.nulls,
        "phrases": form.phrases,
    }


def _describe_file(name: str) -> dict[str, Any]:
    """Identify a file by its name, size and first bytes; a corpus or standard input by its name."""
    file = Path(name)
    if not file.is_file():
        return {"name": name}
    with file.open("rb") as stream:
        head = sha256(stream.read(HEAD_BYTES)).hexdigest()
    return {"name": file.name, "bytes": file.stat().st_size, "sha256_of_first_mebibyte": head}
