"""A pytest plugin for fuzzing: tests run in an order drawn from the seed until the time is up."""

import os
import random
import time

import pytest

SECONDS_LEFT = "OTALIGN_FUZZ_SECONDS"  # from the first test on, in the environment of pytest and its workers
until: float | None = None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # In a short run each test has its chance to be among the first; all workers draw the same order.
    random.Random(str(config.getoption("--hypothesis-seed"))).shuffle(items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    global until
    if until is None:  # starting the workers does not count
        until = time.monotonic() + float(os.environ[SECONDS_LEFT])
    if time.monotonic() > until:
        pytest.skip("the time is up")
