"""Sentences that the tests of commands align, and a function that reads the output."""

import subprocess

SOURCE = ["He bought a used car.", "", "Rain fell on the town.", "   ", "It can't be sold today."]
TARGET = [
    "He purchased a second-hand car yesterday.",
    "the hills",
    "The town was in the rain.",
    "",
    "old new",
]


def lines(done: subprocess.CompletedProcess) -> list[str]:
    assert done.stdout.endswith(b"\n")
    return done.stdout.decode().removesuffix("\n").split("\n")
