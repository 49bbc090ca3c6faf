"""Experiments from the command line: `python -m experiments --help`, from a clone of the repository."""

from experiments.cli import study
from otalign.cli import run

if __name__ == "__main__":
    run(study)
