"""Run the property tests with new seeds until the time is up, or until one of them fails.

python -m tests.fuzz --minutes 5
python -m tests.fuzz --minutes 1 tests/fuzz/test_readers.py        # only these
"""

import argparse
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path

from tests.fuzz.budget import SECONDS_LEFT

ROOT = Path(__file__).parent.parent.parent
PROFILE = ["-m", "hypothesis", "--hypothesis-profile=fuzz"]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, help="of the first round; a random one if left out")
    parser.add_argument("targets", nargs="*", default=["tests"], help="test files, folders or names")
    asked = parser.parse_args()
    seed = secrets.randbelow(1 << 32) if asked.seed is None else asked.seed
    until, rounds = time.monotonic() + 60 * asked.minutes, 0
    while (left := until - time.monotonic()) > 0:
        rounds += 1
        print(f"round {rounds}, seed {seed}", flush=True)
        status = run_round(asked.targets, seed, left)
        if status:
            print(
                f"\nA property failed in round {rounds}, or its process died. To see it again:\n"
                f"  python -m tests.fuzz --seed {seed} {' '.join(asked.targets)}\n"
                f"or, from the examples kept in .hypothesis, only the test that failed:\n"
                f"  python -m pytest {' '.join(PROFILE)} TEST"
            )
            return status
        seed = secrets.randbelow(1 << 32)
    print(f"{rounds} round{'s' if rounds > 1 else ''}, nothing found")
    return 0


def run_round(targets: list[str], seed: int, seconds: float) -> int:
    """Run every property once in a process of its own, which hostile input may crash."""
    options = ["-p", "tests.fuzz.budget", f"--hypothesis-seed={seed}", "-n", "auto", "--maxfail=1"]
    command = [sys.executable, "-m", "pytest", *targets, *PROFILE, *options]
    return subprocess.run(command, cwd=ROOT, env=os.environ | {SECONDS_LEFT: str(seconds)}).returncode


if __name__ == "__main__":
    sys.exit(main())
