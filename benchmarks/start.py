"""Measure the startup of the command line: its help and one pair, an older version, and the libraries alone.

    python benchmarks/start.py --before OLDER/src --rounds 15

Each round starts every command once, with a warm file cache and compiled modules. Times are the minimum of
all rounds; CPU time is that of all threads, and other work on the machine adds little to it.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "src"
PAIR = ("He bought a used car last week.", "Last week he purchased a car.")
LIBRARIES = "import onnxruntime, numpy, tokenizers"


def measure(command: list[str], sources: Path, cache: str) -> tuple[float, float]:
    """Run a command with the package of a folder; return its wall-clock and CPU time in seconds."""
    environment = {**os.environ, "PYTHONPATH": str(sources), "PYTHONPYCACHEPREFIX": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, *command], env=environment, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print a line for each command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--before", type=Path, help="folder src of an older version")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    commands = {
        "otalign --help": ["-m", "otalign", "--help"],
        "otalign align": ["-m", "otalign", "align", *PAIR],
    }
    runs = {name: (command, SOURCES) for name, command in commands.items()}
    if options.before:
        runs |= {f"{name}, before": (command, options.before) for name, command in commands.items()}
    runs["the libraries alone"] = (["-c", LIBRARIES], SOURCES)
    with tempfile.TemporaryDirectory() as cache:
        for command, sources in runs.values():
            measure(command, sources, cache)  # compiles modules
        rounds = [{name: measure(*run, cache) for name, run in runs.items()} for _ in range(options.rounds)]
    print(f"{'':26}seconds   of processors")
    for name in runs:
        wall, used = (min(times[name][which] for times in rounds) for which in (0, 1))
        print(f"{name:26}{wall:7.2f}{used:16.2f}")


if __name__ == "__main__":
    main()
