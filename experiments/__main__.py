"""Entry point of `python -m experiments`."""

from experiments.cli import app
from otalign.cli import run

if __name__ == "__main__":
    run(app)
