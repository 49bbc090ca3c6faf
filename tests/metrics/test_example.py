"""The example of the documentation gives the documented result."""

import doctest
from pathlib import Path


def test_the_example_of_the_score_runs():
    page = Path(__file__).parents[2] / "docs/score.md"
    result = doctest.testfile(str(page), module_relative=False)
    assert result.attempted > 5
    assert result.failed == 0
