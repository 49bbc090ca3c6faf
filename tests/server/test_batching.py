"""Batches of requests: nothing is lost, mixed up, or computed for clients that have left."""

import asyncio
import threading
import time
from dataclasses import replace

import pytest

from otalign import Entropic, Settings
from otalign.server import batching
from otalign.server.batching import RequestQueue
from otalign.server.choices import ServedChoice
from otalign.server.errors import RequestError
from otalign.server.work import PairRequest

SETTINGS = Settings(encoder="none", layer=0)
CHOICE = ServedChoice("pot", SETTINGS, None)  # type: ignore


def ask(text: str) -> PairRequest:
    return PairRequest(text, "", CHOICE)  # of the size of its text


class Echo:
    """A worker that returns its requests once it is released, and records the batches."""

    def __init__(self, answer=None):
        self.answer = answer
        self.batches: list[list[str]] = []
        self.may = threading.Event()
        self.may.set()

    def __call__(self, asks):
        assert self.may.wait(10)
        texts = [ask.source for ask in asks]
        self.batches.append(texts)
        if self.answer:
            return self.answer(asks)
        if "fail" in texts:
            raise RuntimeError("broken")
        return [RequestError(422, "no") if text == "refuse" else text for text in texts]


def run(work, scenario, waiting: int = 100, **options):
    async def main():
        batches = RequestQueue(work, waiting, **options)
        batches.start()
        try:
            return await asyncio.wait_for(scenario(batches), 20)
        finally:
            work.may.set()
            batches.stop()
            assert not batches.alive

    return asyncio.run(main())


def test_each_gets_its_own_answers_in_order():
    async def scenario(batches):
        asked = [[ask(f"{k}.{part}") for part in range(k % 4)] for k in range(30)]
        answers = await asyncio.gather(*map(batches.submit, asked))
        assert answers == [[one.source for one in asks] for asks in asked]

    echo = Echo()
    run(echo, scenario)
    assert len(echo.batches) < 30


def test_what_came_in_meanwhile_is_worked_on_together_up_to_a_size(monkeypatch):
    monkeypatch.setattr(batching, "BATCH", 10)
    echo = Echo()
    echo.may.clear()

    async def scenario(batches):
        first = asyncio.ensure_future(batches.submit([ask("0123456789")]))
        await asyncio.sleep(0.05)
        others = [asyncio.ensure_future(batches.submit([ask(text * 5)])) for text in "abc"]
        await asyncio.sleep(0.05)
        echo.may.set()
        await asyncio.gather(first, *others)

    run(echo, scenario)
    assert echo.batches == [["0123456789"], ["aaaaa", "bbbbb"], ["ccccc"]]


def test_what_fails_or_is_refused_fails_alone():
    async def scenario(batches):
        texts = ["a", "fail", "b", "refuse", "c"]
        return await asyncio.gather(*(batches.submit([ask(text)]) for text in texts), return_exceptions=True)

    a, failed, b, refused, c = run(Echo(), scenario)
    assert [a, b, c] == [["a"], ["b"], ["c"]]
    assert [failed.status_code, refused.status_code] == [500, 422]


def test_requests_nobody_waits_for_are_not_started():
    echo = Echo()
    echo.may.clear()

    async def scenario(batches):
        first = asyncio.ensure_future(batches.submit([ask("first")]))
        await asyncio.sleep(0.05)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(batches.submit([ask("dropped")] * 3), 0.05)
        echo.may.set()
        assert await first == ["first"]
        assert await batches.submit([ask("last")]) == ["last"]

    run(echo, scenario)
    assert echo.batches == [["first"], ["last"]]


def test_a_full_queue_takes_no_more_until_it_is_shorter():
    echo = Echo()
    echo.may.clear()

    async def scenario(batches):
        first = asyncio.ensure_future(batches.submit([ask("first")]))
        await asyncio.sleep(0.05)
        second = asyncio.ensure_future(batches.submit([ask("x")] * 5))  # alone a request may have any size
        await asyncio.sleep(0.05)
        with pytest.raises(RequestError, match="5 pairs are waiting"):
            await batches.submit([ask("y")])
        echo.may.set()
        await asyncio.gather(first, second)
        assert await batches.submit([ask("y")]) == ["y"]

    run(echo, scenario, waiting=3)


def test_a_small_request_waits_for_one_batch_of_a_large_one(monkeypatch):
    monkeypatch.setattr(batching, "BATCH", 4)
    echo = Echo()
    echo.may.clear()

    async def scenario(batches):
        large = batches.submit([ask(f"L{k}") for k in range(20)])
        await asyncio.sleep(0.05)  # its first batch is begun
        small = [batches.submit([ask(f"s{k}")]) for k in range(2)]
        echo.may.set()
        assert await asyncio.gather(*small) == [["s0"], ["s1"]]
        assert await large == [f"L{k}" for k in range(20)]

    run(echo, scenario)
    assert echo.batches[0] == ["L0", "L1"]
    assert {"s0", "s1"} <= {text for batch in echo.batches[1:3] for text in batch}


def test_a_large_request_that_is_given_up_ends_with_its_batch_and_frees_the_queue(monkeypatch):
    monkeypatch.setattr(batching, "BATCH", 4)
    echo = Echo()
    echo.may.clear()

    async def scenario(batches):
        large = batches.submit([ask(f"L{k}") for k in range(20)])
        await asyncio.sleep(0.05)
        assert batches.waiting == 18
        with pytest.raises(RequestError, match="18 pairs are waiting"):
            batches.check()
        large.cancel()
        await asyncio.sleep(0)
        assert batches.waiting == 0
        small = batches.submit([ask("s")] * 3)
        echo.may.set()
        assert await small == ["s"] * 3

    run(echo, scenario, waiting=18)
    assert echo.batches[0] == ["L0", "L1"]
    assert {text for batch in echo.batches[1:] for text in batch} == {"s"}


def test_a_single_request_starts_at_once():
    async def scenario(batches):
        await batches.submit([ask("warm")])
        start = time.perf_counter()
        for _ in range(100):
            await batches.submit([ask("alone")])
        return (time.perf_counter() - start) / 100

    assert run(Echo(), scenario) < 0.002  # waiting for others to come would take longer


def test_a_batch_that_cannot_take_all_takes_the_first_and_those_most_like_it(monkeypatch):
    """The encoder batches inputs of equal length. A request passed over is first in the next batch."""
    monkeypatch.setattr(batching, "BATCH", 12)
    echo = Echo()
    echo.may.clear()

    async def scenario(batches):
        held = batches.submit([ask("x" * 12)])
        await asyncio.sleep(0.05)
        texts = ["aaa", "b" * 9, "cccc", "ddd", "e" * 8, "ff"]
        waiting = [batches.submit([ask(text)]) for text in texts]
        echo.may.set()
        await asyncio.gather(held, *waiting)

    run(echo, scenario)
    assert echo.batches[1:] == [["aaa", "ddd", "cccc", "ff"], ["b" * 9, "e" * 8]]


def test_a_request_that_would_wait_too_long_is_refused_at_once_with_retry_after(monkeypatch):
    monkeypatch.setattr(batching, "BATCH", 10)
    pace = 0.05  # seconds for each pair

    def work(asks):
        time.sleep(pace * len(asks))
        return [ask.source for ask in asks]

    async def scenario(batches):
        await asyncio.gather(*(batches.submit([ask("y" * 10)]) for _ in range(3)))  # the rate gets known
        started, waits, refused = time.perf_counter(), [], []

        async def client():
            begin = time.perf_counter()
            try:
                await batches.submit([ask("z" * 10)])
                waits.append(time.perf_counter() - begin)
            except RequestError as error:
                refused.append((time.perf_counter() - begin, error))

        await asyncio.gather(*(client() for _ in range(100)))
        assert 0.5 < time.perf_counter() - started < 5
        assert waits
        assert max(waits) < 2  # the bound of 0.5 seconds, and time for a slow machine
        for delay, error in refused:
            assert delay < 0.2
            assert error.status_code == 503
            assert int(error.headers["Retry-After"]) >= 1
        assert len(waits) + len(refused) == 100
        assert 5 <= len(waits) <= 20
        assert await batches.submit([ask("again")]) == ["again"]

    run(Echo(work), scenario, seconds=0.5)


def test_a_small_request_is_not_refused_because_of_a_large_one(monkeypatch):
    monkeypatch.setattr(batching, "BATCH", 10)

    def work(asks):
        time.sleep(0.05 * len(asks))
        return [ask.source for ask in asks]

    async def scenario(batches):
        await asyncio.gather(*(batches.submit([ask("y" * 10)]) for _ in range(3)))
        large = batches.submit([ask("L" * 10)] * 20)  # a second of work
        await asyncio.sleep(0.05)
        with pytest.raises(RequestError, match="would wait"):
            await batches.submit([ask("M" * 10)] * 20)
        assert await batches.submit([ask("s" * 10)]) == ["s" * 10]
        assert not large.done()

    run(Echo(work), scenario, seconds=0.5)


def test_pairs_with_many_cells_or_a_small_epsilon_make_small_batches():
    long = PairRequest("a " * 256, "b " * 256, CHOICE)
    slow = long._replace(choice=replace(CHOICE, settings=SETTINGS.replace(solver=Entropic(0.001))))
    assert 2 <= batching.BATCH / long.size <= 8
    assert slow.size > batching.BATCH
    assert PairRequest("word " * 15, "word " * 15, CHOICE).size < batching.BATCH / 64
