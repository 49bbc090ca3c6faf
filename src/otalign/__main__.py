"""`python -m otalign` is the program `otalign`."""

from otalign.cli import main

main()
