"""Compare `otalign diff` with `git diff --word-diff` on revisions of documents of this repository.

python benchmarks/word_diff.py                                    three documents, in a table
python benchmarks/word_diff.py OLD_REVISION NEW_REVISION PATH     one document

A mark is what a reader has to look at: a run of removed words, added words or both for git; a piece that is
reworded, moved, added or removed for otalign, where the two halves of a moved phrase are one.
Needs a clone with its history.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from otalign import Aligner
from otalign.diff import Difference, difference

ROOT = Path(__file__).parent.parent
DOCUMENTS = [
    ("81ec118", "6be4f02", "SECURITY.md"),
    ("6be4f02", "341d529", "CONTRIBUTING.md"),
    ("aa36b13", "7ad379a", "docs/score.md"),
]


class Marks(NamedTuple):
    """Number of marks in a text, and of the words in them."""

    marks: int
    words: int


def run_git(*arguments: str, allowed: tuple[int, ...] = (0,)) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    if done.returncode not in allowed:
        raise SystemExit(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def count_git_marks(old: str, new: str) -> Marks:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("old", "new")]
        for path, text in zip(paths, (old, new), strict=True):
            path.write_text(text, encoding="utf-8")
        options = ("--no-index", "--word-diff=porcelain", "--unified=0")
        lines = run_git("diff", *options, *map(str, paths), allowed=(0, 1)).splitlines()
    runs = [line for line in lines if not line.startswith(("--- ", "+++ ", "@@"))]
    count = words = 0
    last = ""
    for sign, text in ((line[:1], line[1:].split()) for line in runs):
        if sign in ("+", "-") and text:
            count += (last, sign) != ("-", "+")
            words += len(text)
        last = sign
    return Marks(count, words)


def count_marks(found: Difference) -> Marks:
    count = words = 0
    for passage in found:
        pieces = [piece for piece in passage.pieces if piece.fate not in ("kept", "minor")]
        units = {piece.unit for piece in pieces if piece.fate == "moved"}
        count += len(units) + sum(piece.fate != "moved" for piece in pieces)
        words += sum(len(found.text(piece, side).split()) for piece in pieces for side in ("old", "new"))
    return Marks(count, words)


def compare(old: str, new: str, path: str, aligner: Aligner) -> str:
    """Return a row of the table."""
    texts = [run_git("show", f"{revision}:{path}") for revision in (old, new)]
    found = difference(texts[0], texts[1], aligner)
    git, ours = count_git_marks(texts[0], texts[1]), count_marks(found)
    counts = found.counts
    told = {"moved": counts["moved"], "split or joined": counts["split"] + counts["joined"]}
    told |= {"minor": sum(p.fate == "minor" for passage in found for p in passage.pieces)}
    extra = ", ".join(f"{count} {name}" for name, count in told.items() if count) or "–"
    cells = (
        f"`{path}`, {old} → {new}",
        f"{len(found.old)} → {len(found.new)}",
        f"{git.marks} marks, {git.words} words",
        f"{ours.marks} marks, {ours.words} words",
        extra,
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    documents = [(sys.argv[1], sys.argv[2], sys.argv[3])] if len(sys.argv) == 4 else DOCUMENTS
    aligner = Aligner.load()
    print("| document | sentences | git diff --word-diff | otalign diff | told apart besides |")
    print("|---|---|---|---|---|")
    for document in documents:
        print(compare(*document, aligner), flush=True)
