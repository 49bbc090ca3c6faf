"""What the server answers is what the aligner says, whoever else asks, and every refusal says why."""

import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from otalign import Aligner, Alignment, Balanced, Entropic, Partial, Settings, Unbalanced
from otalign.server.app import app_for
from otalign.server.limits import Limits
from otalign.server.work import Work

from .running import served

PAIRS = [
    ("He bought a used car.", "He purchased a second-hand car yesterday."),
    ("Rain fell on the town", "The town was in the rain"),
    (["It", "can't be", "sold"], ["old", "", "new"]),
    ("", "nothing here"),
    (" ", ""),
    ("one", "two"),
    ("word " * 60, "other " * 40),
]
ASKED = [{"source": source, "target": target} for source, target in PAIRS]
TOLERANCE = 2e-3  # between a pair alone and in a batch: sums in another order


def plain(aligner: Aligner, **settings) -> Aligner:
    """An aligner without a head over the same encoder, as the server has it."""
    said = {"encoder": aligner.settings.encoder, "layer": 2, "centring": False}
    return Aligner(aligner.encoder, Settings(**(said | settings)))


def is_like(told: dict, alignment: Alignment) -> bool:
    """Whether the answer is the alignment, but for links at the threshold and the rounding of weights."""
    ours = alignment.to_dict()
    return all(
        told[name] == ours[name] for name in ("source", "target", "source_spans", "target_spans")
    ) and told["source_null_confidence"] == pytest.approx(ours["source_null_confidence"], abs=TOLERANCE)


def test_one_pair_is_answered_as_the_aligner_aligns_it(server, trained):
    for (source, target), body in zip(PAIRS, ASKED, strict=True):
        reply = server.align(body)
        assert reply.status == 200
        assert reply.headers["content-type"] == "application/json"
        told = Alignment.from_dict(
            {k: v for k, v in reply.json.items() if k not in ("settings", "signature")}
        )
        assert told == trained.align(source, target)
        assert reply.json["signature"] == trained.signature


def test_many_pairs_are_answered_in_order(server, trained):
    reply = server.align({"pairs": ASKED})
    assert reply.json["signature"] == trained.signature
    for told, (source, target) in zip(reply.json["alignments"], PAIRS, strict=True):
        assert is_like(told, trained.align(source, target))
    assert server.align({"pairs": []}).json["alignments"] == []


@pytest.mark.parametrize(
    ("asked", "settings"),
    [
        ({"problem": "bot"}, {"problem": Balanced()}),
        ({"problem": "pot"}, {"problem": Partial(1.0)}),
        ({"problem": "pot", "fraction": 0.4}, {"problem": Partial(0.4)}),
        ({"problem": "uot", "threshold": 0.2}, {"problem": Unbalanced(0.8), "threshold": 0.2}),
        (
            {"problem": "uot", "tau": 0.3, "epsilon": 0.05, "distortion": 1},
            {"problem": Unbalanced(0.3), "solver": Entropic(0.05, tol=1e-3), "distortion": 1.0},
        ),
        ({"problem": "none", "distortion": 0.0}, {"problem": None, "distortion": 0.0}),
    ],
)
def test_each_problem_transports_the_encoders_embeddings(server, trained, asked, settings):
    reply = server.align(ASKED[0] | {"settings": asked})
    aligner = plain(trained, **settings)
    told = Alignment.from_dict({k: v for k, v in reply.json.items() if k not in ("settings", "signature")})
    assert told == aligner.align(*PAIRS[0])
    assert reply.json["signature"] == aligner.signature
    assert asked.items() <= reply.json["settings"].items()


def test_a_trained_aligner_leaves_the_level_of_links_and_the_threshold(server, trained):
    possible = server.align(ASKED[0] | {"settings": {"problem": "learned", "links": "possible"}}).json
    settings = trained.settings.changed(links="possible")
    assert possible["signature"] == replace(trained, settings=settings).signature
    assert possible["settings"] == {"problem": "learned", "links": "possible", "threshold": 0.3}
    none = server.align(ASKED[0] | {"settings": {"problem": "learned", "threshold": 1}}).json
    assert none["links"] == []


def test_an_aligner_that_was_not_trained_offers_no_training(untrained):
    with served(app_for(untrained)) as server:
        about = server.get("/v1/aligner").json
        assert (about["problem"], sorted(about["settings"])) == ("pot", ["bot", "none", "pot", "uot"])
        refused = server.align(ASKED[0] | {"settings": {"problem": "learned"}})
        assert refused.status == 422
        assert refused.json["detail"] == "settings: problem must be given and one of bot, pot, uot, none"
        told = server.align(ASKED[0]).json
        assert told["signature"] == plain(untrained).signature


def test_a_kept_centre_is_used(untrained):
    aligner = untrained.centred_on(PAIRS)
    with served(app_for(aligner)) as server:
        told = server.align(ASKED[0]).json
        assert told["signature"] == aligner.signature
        assert is_like(told, aligner.align(*PAIRS[0]))


def test_the_matrix_holds_the_weight_of_every_cell(server):
    for problem in ("learned", "uot"):
        told = server.align(ASKED[0] | {"matrix": True, "settings": {"problem": problem}}).json
        above = [
            [i, j, weight]
            for i, row in enumerate(told["matrix"])
            for j, weight in enumerate(row)
            if weight > told["settings"]["threshold"]
        ]
        assert above == told["links"]
        assert [len(told["matrix"]), len(told["matrix"][0])] == [len(told["source"]), len(told["target"])]
    assert "matrix" not in server.align(ASKED[0]).json


def test_an_answer_does_not_depend_on_who_else_asks(server, trained):
    """Good and bad requests of many clients at once, with different settings."""
    bad = [
        b"{",
        {"source": "one"},
        {"source": 1, "target": "two"},
        {"pairs": [{}]},
        {"source": "a " * 300, "target": "b"},
    ]
    good = [ASKED[k % 7] | {"settings": {"problem": ("learned", "bot", "uot")[k % 3]}} for k in range(60)]
    alone = [server.align(body).json for body in good]
    mixed = [body for k, one in enumerate(good) for body in (one, bad[k % 5])]
    with ThreadPoolExecutor(16) as clients:
        replies = list(clients.map(server.align, mixed))
    assert [reply.status for reply in replies[1::2]] == [400, 422, 422, 422, 422] * 12
    for reply, before in zip(replies[::2], alone, strict=True):
        assert reply.status == 200
        assert reply.json["signature"] == before["signature"]
        assert reply.json["target_null_confidence"] == pytest.approx(
            before["target_null_confidence"], abs=TOLERANCE
        )


REFUSED = [
    (b"", 422, "#"),
    (b"{", 400, None),
    (b"\xff\xfe", 400, None),
    (b"[" * 100_000, 400, None),
    ([], 422, "#"),
    ({}, 422, "#/source"),
    ({"source": "a", "target": 2}, 422, "#/target"),
    ({"source": "a", "target": ["b", 2]}, 422, "#/target/1"),
    ({"source": "a", "target": "b", "souce": "c"}, 422, "#/souce"),
    ({"source": "a", "target": "\ud800"}, 422, "#/target"),
    ({"source": "a" * 4001, "target": "b"}, 422, "#/source"),
    ({"source": ["a"] * 257, "target": "b"}, 422, "#/source"),
    ({"source": "a " * 257, "target": "b"}, 422, None),
    ({"pairs": [{"source": "a", "target": "b"}] * 257}, 422, "#/pairs"),
    ({"pairs": [{"source": "a", "target": "b"}, {"source": "a"}]}, 422, "#/pairs/1/target"),
    ({"pairs": [{"source": "a", "target": "b"}], "matrix": True}, 422, "#/matrix"),
    *(
        ({"source": "a", "target": "b", "settings": settings}, 422, f"#/settings{pointer}")
        for settings, pointer in [
            ({}, ""),
            ({"problem": "best"}, ""),
            ({"problem": "bot", "tau": 1}, "/tau"),
            ({"problem": "uot", "tau": 0}, "/tau"),
            ({"problem": "uot", "tau": float("nan")}, "/tau"),
            ({"problem": "pot", "fraction": 1.5}, "/fraction"),
            ({"problem": "learned", "epsilon": 0.1}, "/epsilon"),
            ({"problem": "none", "threshold": "high"}, "/threshold"),
        ]
    ),
]


@pytest.mark.parametrize(("body", "status", "pointer"), REFUSED)
def test_a_bad_request_is_told_what_is_wrong_and_where(server, body, status, pointer):
    reply = server.align(body)
    is_problem(reply, status)
    if pointer:
        assert pointer in [error["pointer"] for error in reply.json["errors"]]


def is_problem(reply, status: int) -> None:
    assert reply.status == status
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json["status"] == status
    assert reply.json["title"]
    assert reply.json["detail"]
    assert reply.headers["x-content-type-options"] == "nosniff"


def test_what_is_not_there_or_not_meant_so_is_a_problem_too(server):
    is_problem(server.get("/nowhere"), 404)
    wrong = server.get("/v1/align")
    is_problem(wrong, 405)
    assert wrong.headers["allow"] == "POST"


@pytest.mark.parametrize("given", ["text/plain", "application/x-www-form-urlencoded", "json", "", None])
def test_a_body_that_is_not_said_to_be_json_is_refused_by_its_type(server, given):
    headers = {} if given is None else {"Content-Type": given}
    reply = server.send("POST", "/v1/align", json.dumps(ASKED[0]).encode(), headers)
    is_problem(reply, 415)
    assert "application/json" in reply.json["detail"]
    assert (given or "none") in reply.json["detail"]
    typed = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert server.send("POST", "/v1/align", json.dumps(ASKED[0]).encode(), typed).status == 200


def test_a_body_that_is_too_large_is_refused_however_it_comes(server):
    is_problem(server.align(b" " * (1 << 20) + b"{}"), 413)
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(
            b"POST /v1/align HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        for _ in range(17):
            connection.sendall(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")
    assert server.align(ASKED[0]).status == 200


def test_only_the_names_of_this_machine_are_answered_to(server):
    for name in ("localhost", "localhost:8000", "127.0.0.1:80", "[::1]:8000", "LOCALHOST"):
        assert server.get("/healthz", Host=name).status == 200
    for name in ("example.org", "localhost.example.org:8000", "127.0.0.1.example.org", ""):
        is_problem(server.get("/healthz", Host=name), 421)


def test_pages_from_elsewhere_may_ask_only_if_told_so(server, trained):
    elsewhere = {"Origin": "https://example.org"}
    assert "access-control-allow-origin" not in server.align(ASKED[0], **elsewhere).headers
    is_problem(server.send("OPTIONS", "/v1/align", None, elsewhere), 405)
    with served(app_for(trained, origins=["https://example.org"])) as other:
        wish = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
        assert other.send("OPTIONS", "/v1/align", None, elsewhere | wish).status == 200
        allowed = other.align(ASKED[0], **elsewhere)
        assert allowed.headers["access-control-allow-origin"] == "https://example.org"


def test_it_says_what_it_is_and_that_it_is_well(server, trained):
    assert server.get("/healthz").json["status"] == "ok"
    about = server.get("/v1/aligner").json
    assert about["signature"] == trained.signature
    assert (about["problem"], about["limits"]["words"]) == ("learned", 256)
    for problem, settings in about["settings"].items():
        told = server.align(ASKED[0] | {"settings": {"problem": problem}}).json
        assert told["settings"] == settings


def test_a_failure_is_told_as_one_and_the_server_goes_on(trained, monkeypatch):
    work = Work.__call__

    def failing(self, asks):
        if any(ask.source == "fail" for ask in asks):
            raise RuntimeError("something broke")
        return work(self, asks)

    monkeypatch.setattr(Work, "__call__", failing)
    with served(app_for(trained)) as server:
        bodies = [{"source": "fail", "target": "x"}, *ASKED] * 4
        with ThreadPoolExecutor(16) as clients:
            replies = list(clients.map(server.align, bodies))
        for body, reply in zip(bodies, replies, strict=True):
            if body["source"] == "fail":
                is_problem(reply, 500)
                assert "broke" not in reply.text
            else:
                assert reply.status == 200


def test_there_is_a_limit_to_what_waits_and_to_how_long(trained, monkeypatch):
    work, begun = Work.__call__, []

    def slow(self, asks):
        begun.extend(ask.source for ask in asks)
        time.sleep(0.6)
        return work(self, asks)

    monkeypatch.setattr(Work, "__call__", slow)
    with served(app_for(trained, Limits(seconds=0.5, waiting=2))) as server:
        with ThreadPoolExecutor(12) as clients:
            replies = []
            for k in range(12):
                replies.append(clients.submit(server.align, {"source": f"s{k}", "target": "t"}))
                time.sleep(0.02)
            replies = [reply.result() for reply in replies]
        for reply in replies:
            is_problem(reply, reply.status)
        assert {reply.status for reply in replies} == {503, 504}
        busy = next(reply for reply in replies if reply.status == 503)
        assert int(busy.headers["retry-after"]) >= 1
        time.sleep(0.7)
        assert len(begun) < 12  # nobody waits any more for those that were not begun
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
            connection.sendall(b"POST /v1/align HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{")
            assert connection.recv(100).startswith(b"HTTP/1.1 408 ")


def test_limits_that_forbid_everything_are_refused():
    with pytest.raises(ValueError, match="pairs must be above 0, got 0"):
        Limits(pairs=0)


def test_the_schema_tells_the_limits(server):
    schema = json.loads(server.get("/openapi.json").text)
    assert '"maxItems": 256' in json.dumps(schema["components"]["schemas"]["ManyPairs"])
    assert '"maxLength": 4000' in json.dumps(schema["components"]["schemas"]["OnePair"])
