"""Batches of requests: nothing is lost, mixed up, or computed for clients that have left."""

import asyncio
import threading
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

    def __init__(self):
        self.batches: list[list[str]] = []
        self.may = threading.Event()
        self.may.set()

    def __call__(self, asks):
        assert self.may.wait(10)
        texts = [ask.source for ask in asks]
        self.batches.append(texts)
        if "fail" in texts:
            raise RuntimeError("broken")
        return [RequestError(422, "no") if text == "refuse" else text for text in texts]


def run(work, scenario, waiting: int = 100):
    async def main():
        batches = RequestQueue(work, waiting)
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


def test_what_nobody_waits_for_is_not_begun():
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
        second = asyncio.ensure_future(batches.submit([ask("x")] * 5))  # alone it may be as many as it likes
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
        assert batches.full
        large.cancel()
        assert batches.waiting == 0
        small = batches.submit([ask("s")] * 3)
        echo.may.set()
        assert await small == ["s"] * 3

    run(echo, scenario, waiting=18)
    assert echo.batches[0] == ["L0", "L1"]
    assert {text for batch in echo.batches[1:] for text in batch} == {"s"}


def test_pairs_with_many_cells_or_a_small_epsilon_make_small_batches():
    long = PairRequest("a " * 256, "b " * 256, CHOICE)
    slow = long._replace(choice=replace(CHOICE, settings=SETTINGS.replace(solver=Entropic(0.001))))
    assert 2 <= batching.BATCH / long.size <= 8
    assert slow.size > batching.BATCH
    assert PairRequest("word " * 15, "word " * 15, CHOICE).size < batching.BATCH / 64
