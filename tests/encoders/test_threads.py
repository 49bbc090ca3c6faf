"""Threads for batches: what somebody waits for comes first, errors reach whoever waits."""

from threading import Event

import pytest

from otalign.encoders.threads import BatchThreads


def test_tasks_that_are_waited_for_come_before_those_that_are_ahead():
    threads, started, done = BatchThreads(1), Event(), []
    first = threads.submit(started.wait, 10)
    futures = [threads.submit(done.append, k, ahead=k < 3) for k in range(6)]
    started.set()
    for future in [first, *futures]:
        future.result(10)
    assert done == [3, 4, 5, 0, 1, 2]


def test_results_come_in_order_and_the_first_error_is_raised():
    threads = BatchThreads(3)
    assert list(threads.map(str, range(50))) == [str(k) for k in range(50)]
    with pytest.raises(ZeroDivisionError):
        list(threads.map(lambda k: 1 / k, [1, 2, 0, 3]))


def test_a_cancelled_task_is_not_run():
    threads, started, done = BatchThreads(1), Event(), []
    threads.submit(started.wait, 10)
    dropped, kept = threads.submit(done.append, 1), threads.submit(done.append, 2)
    assert dropped.cancel()
    started.set()
    kept.result(10)
    assert done == [2]
