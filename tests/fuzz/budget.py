"""A pytest plugin for fuzzing: tests in an order drawn from the seed, and none begun once the time is up."""

import os
import random
import time

import pytest

UNTIL = "OTALIGN_FUZZ_UNTIL"  # seconds since the epoch, in the environment of pytest and its workers


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # In a short run each test has its chance to be among the first; all workers draw the same order.
    random.Random(str(config.getoption("--hypothesis-seed"))).shuffle(items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    if time.time() > float(os.environ[UNTIL]):
        pytest.skip("the time is up")
