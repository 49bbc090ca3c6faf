"""Experiments that reproduce the paper, and the supervised systems that it compares with.

The package is not part of the wheel. Run it from a clone: `python -m experiments --help`.
"""
