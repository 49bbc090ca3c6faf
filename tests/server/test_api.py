"""The server gives the alignments of the aligner, however many clients it has, and explains refusals."""

import json
import re
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partialmethod
from importlib import resources

import numpy as np
import pytest

from otalign import Aligner, Alignment, Balanced, Entropic, Partial, Settings, Unbalanced
from otalign.problems import PARAMETERS, PROBLEMS
from otalign.server import batching
from otalign.server.app import make_app
from otalign.server.limits import Limits
from otalign.server.metrics import SIZE, Metrics
from otalign.server.work import AlignmentWorker
from otalign.settings import LEARNED
from tests.server.local_server import run_server

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
    options = {"encoder": aligner.settings.encoder, "layer": aligner.settings.layer, "centring": False}
    return Aligner(aligner.encoder, Settings(**(options | settings)))


def is_like(answer: dict, alignment: Alignment) -> bool:
    """Return whether an answer is the alignment, up to links at the threshold and rounding."""
    ours = alignment.to_dict()
    return all(
        answer[name] == ours[name] for name in ("source", "target", "source_spans", "target_spans")
    ) and answer["source_null_confidence"] == pytest.approx(ours["source_null_confidence"], abs=TOLERANCE)


def test_one_pair_is_answered_as_the_aligner_aligns_it(server, trained):
    for (source, target), body in zip(PAIRS, ASKED, strict=True):
        reply = server.align(body)
        assert reply.status == 200
        assert reply.headers["content-type"] == "application/json"
        answer = Alignment.from_dict(
            {k: v for k, v in reply.json.items() if k not in ("settings", "signature")}
        )
        assert answer == trained.align(source, target)
        assert reply.json["signature"] == trained.signature


def test_many_pairs_are_answered_in_order(server, trained):
    reply = server.align({"pairs": ASKED})
    assert reply.json["signature"] == trained.signature
    for answer, (source, target) in zip(reply.json["alignments"], PAIRS, strict=True):
        assert is_like(answer, trained.align(source, target))
    assert server.align({"pairs": []}).json["alignments"] == []


def test_phrases_are_returned_on_request(server, trained):
    many = server.align({"pairs": ASKED, "phrases": True}).json["alignments"]
    for body, answer in zip(ASKED, many, strict=True):
        one = server.align({**body, "phrases": True}).json
        expected = trained.align(body["source"], body["target"]).to_dict(phrases=True)
        assert one["phrase_links"] == expected["phrase_links"]
        assert [link["type"] for link in answer["phrase_links"]] == [
            link["type"] for link in one["phrase_links"]
        ]
        assert "phrase_links" not in server.align(body).json
    assert server.align({**ASKED[0], "phrases": "yes"}).status == 422


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
    answer = Alignment.from_dict({k: v for k, v in reply.json.items() if k not in ("settings", "signature")})
    assert answer == aligner.align(*PAIRS[0])
    assert reply.json["signature"] == aligner.signature
    assert asked.items() <= reply.json["settings"].items()


def test_a_trained_aligner_leaves_the_level_of_links_and_the_threshold(server, trained):
    possible = server.align(ASKED[0] | {"settings": {"problem": "learned", "links": "possible"}}).json
    settings = trained.settings.replace(links="possible")
    assert possible["signature"] == replace(trained, settings=settings).signature
    assert possible["settings"] == {"problem": "learned", "links": "possible", "threshold": 0.3}
    none = server.align(ASKED[0] | {"settings": {"problem": "learned", "threshold": 1}}).json
    assert none["links"] == []


def test_settings_need_no_problem(server):
    shorter = {"links": "possible"}, {"tau": 0.4}, {}
    longer = (
        {"problem": "learned", "links": "possible"},
        {"problem": "uot", "tau": 0.4},
        {"problem": "learned"},
    )
    for short, long in zip(shorter, longer, strict=True):
        answers = [server.align(ASKED[0] | {"settings": asked}).json for asked in (short, long)]
        assert answers[0] == answers[1]


def test_limits_that_count_are_whole_numbers(server):
    limits = server.get("/v1/aligner").json["limits"]
    assert {name for name, limit in limits.items() if isinstance(limit, float)} == {
        name for name in limits if name.endswith("seconds")
    }


def test_an_aligner_that_was_not_trained_offers_no_training(untrained):
    with run_server(make_app(untrained)) as server:
        about = server.get("/v1/aligner").json
        assert (about["problem"], sorted(about["settings"])) == ("pot", ["bot", "none", "pot", "uot"])
        refused = server.align(ASKED[0] | {"settings": {"problem": "learned"}})
        assert refused.status == 422
        assert refused.json["detail"] == "settings: problem must be one of bot, pot, uot, none"
        answer = server.align(ASKED[0]).json
        assert answer["signature"] == untrained.signature


def test_the_centre_of_an_aligner_is_used(untrained):
    aligner = untrained.fit_centre(PAIRS)
    with run_server(make_app(aligner)) as server:
        answer = server.align(ASKED[0]).json
        assert answer["signature"] == aligner.signature
        assert is_like(answer, aligner.align(*PAIRS[0]))


def test_the_matrix_holds_the_weight_of_every_cell(server):
    for problem in ("learned", "uot"):
        answer = server.align(ASKED[0] | {"matrix": True, "settings": {"problem": problem}}).json
        above = [
            [i, j, weight]
            for i, row in enumerate(answer["matrix"])
            for j, weight in enumerate(row)
            if weight > answer["settings"]["threshold"]
        ]
        assert above == answer["links"]
        assert [len(answer["matrix"]), len(answer["matrix"][0])] == [
            len(answer["source"]),
            len(answer["target"]),
        ]
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
            ({"problem": "nope"}, ""),
            ({"tau": 0.4, "links": "sure"}, "/links"),
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
def test_a_bad_request_gets_an_error_with_its_place(server, body, status, pointer):
    reply = server.align(body)
    is_problem(reply, status)
    if pointer:
        assert pointer in [error["pointer"] for error in reply.json["errors"]]


def test_an_unknown_field_is_named_in_plain_words(server):
    detail = server.align({**ASKED[0], "souce": "c"}).json["detail"]
    assert detail == "souce: There is no such field; /docs lists all fields"


def is_problem(reply, status: int) -> None:
    assert reply.status == status
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json["status"] == status
    assert reply.json["title"]
    assert reply.json["detail"]
    assert reply.headers["x-content-type-options"] == "nosniff"


def test_unknown_paths_and_methods_are_problems_too(server):
    is_problem(server.get("/nowhere"), 404)
    wrong = server.get("/v1/align")
    is_problem(wrong, 405)
    assert wrong.headers["allow"] == "POST"


@pytest.mark.parametrize("given", ["text/plain", "application/x-www-form-urlencoded", "json", "", None])
def test_a_body_that_is_not_declared_as_json_is_refused_by_its_type(server, given):
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


def test_pages_of_other_origins_may_ask_only_if_allowed(server, trained):
    elsewhere = {"Origin": "https://example.org"}
    assert "access-control-allow-origin" not in server.align(ASKED[0], **elsewhere).headers
    is_problem(server.send("OPTIONS", "/v1/align", None, elsewhere), 405)
    with run_server(make_app(trained, origins=["https://example.org"])) as other:
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
        answer = server.align(ASKED[0] | {"settings": {"problem": problem}}).json
        assert answer["settings"] == settings


def test_the_page_explains_every_problem_and_has_a_slider_for_every_parameter():
    script = (resources.files("otalign.server") / "problems.js").read_text(encoding="utf-8")
    explained = re.search(r"const PROBLEMS = \{(.*?)^\};", script, re.MULTILINE | re.DOTALL)[1]
    assert re.findall(r"^  (\w+): \[", explained, re.MULTILINE) == [LEARNED, *PROBLEMS]
    sliders = {
        name: (float(low), float(high))
        for name, low, high in re.findall(r'name: "(\w+)".* from: ([\d.]+), to: ([\d.]+)', script)
    }
    for name, spec in PARAMETERS.items():
        assert spec.parameter.minimum <= sliders[name][0] < sliders[name][1] <= spec.parameter.maximum


def test_a_failure_is_reported_and_the_server_continues(trained, monkeypatch):
    work = AlignmentWorker.__call__

    def failing(self, asks):
        if any(ask.source == "fail" for ask in asks):
            raise RuntimeError("something broke")
        return work(self, asks)

    monkeypatch.setattr(AlignmentWorker, "__call__", failing)
    with run_server(make_app(trained)) as server:
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
    work, begun = AlignmentWorker.__call__, []

    def slow(self, asks):
        begun.extend(ask.source for ask in asks)
        time.sleep(0.6)
        return work(self, asks)

    monkeypatch.setattr(AlignmentWorker, "__call__", slow)
    with run_server(make_app(trained, Limits(seconds=0.5, waiting=2))) as server:
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
        assert len(begun) < 12  # nobody waits any more for those that were not started
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
            connection.sendall(b"POST /v1/align HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{")
            assert connection.recv(100).startswith(b"HTTP/1.1 408 ")


def test_the_work_for_a_client_that_disconnects_is_dropped(trained, monkeypatch):
    """A queued request is not started, and neither is the rest of a request in progress."""
    work, begun, may = AlignmentWorker.__call__, [], threading.Event()

    def held(self, asks):
        begun.extend(ask.source for ask in asks)
        assert may.wait(10)
        return work(self, asks)

    with run_server(make_app(trained)) as server:
        server.align(ASKED[0])
        monkeypatch.setattr(AlignmentWorker, "__call__", held)
        monkeypatch.setattr(batching, "BATCH", 10)
        large = {"pairs": [{"source": f"large {k}", "target": "t"} for k in range(50)]}
        for body in (large, {"source": "waiting", "target": "t"}):
            with socket.create_connection(("127.0.0.1", server.port)) as connection:
                content = json.dumps(body).encode()
                head = "POST /v1/align HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                connection.sendall(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
                wait_until(lambda: begun and count_queued(server) > 0)
            wait_until(lambda: count_queued(server) == 0)
        may.set()
        assert server.align({"source": "small", "target": "t"}).status == 200
        assert begun == ["large 0", "large 1", "small"]
        assert 'otalign_requests_total{status="499"} 2' in server.get("/metrics").text


def count_queued(server) -> int:
    return int(re.search(r"^otalign_queue_pairs (\d+)$", server.get("/metrics").text, re.M)[1])


def wait_until(true) -> None:
    end = time.monotonic() + 10
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_it_is_ready_when_it_is_warm_and_its_queue_has_room(trained, monkeypatch):
    work, may = AlignmentWorker.__call__, threading.Event()

    def held(self, asks):
        assert may.wait(10)
        return work(self, asks)

    monkeypatch.setattr(AlignmentWorker, "__call__", held)
    with run_server(make_app(trained, Limits(waiting=1))) as server:
        cold = server.get("/readyz")
        is_problem(cold, 503)
        assert cold.json["detail"] == "the aligner is warming up"
        assert server.get("/healthz").status == 200
        may.set()
        wait_until(lambda: server.get("/readyz").status == 200)
        may.clear()
        with ThreadPoolExecutor(2) as clients:
            asked = [clients.submit(server.align, ASKED[0])]
            time.sleep(0.1)
            asked.append(clients.submit(server.align, ASKED[1]))
            wait_until(lambda: count_queued(server) == 1)
            full = server.get("/readyz")
            is_problem(full, 503)
            assert full.json["detail"] == "1 pairs are waiting already; try again later"
            may.set()
            assert [one.result().status for one in asked] == [200, 200]


def test_an_aligner_that_fails_at_its_first_pair_is_never_ready(trained, monkeypatch, caplog):
    def failing(self, asks):
        raise RuntimeError("something broke")

    monkeypatch.setattr(AlignmentWorker, "__call__", failing)
    with run_server(make_app(trained)) as server:
        wait_until(lambda: "warming" not in server.get("/readyz").text)
        assert "failed to align its first pair" in server.get("/readyz").json["detail"]


def test_the_metrics_count_requests_pairs_and_time(trained):
    with run_server(make_app(trained)) as server:
        server.align({"pairs": ASKED})
        server.align(ASKED[0])
        server.align(b"{")
        reply = server.get("/metrics")
        assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
        values = dict(line.rsplit(" ", 1) for line in reply.text.splitlines() if not line.startswith("#"))
        assert values['otalign_requests_total{status="200"}'] == "2"
        assert values['otalign_requests_total{status="400"}'] == "1"
        assert values["otalign_pairs_total"] == "8"
        assert (
            values['otalign_align_seconds_bucket{le="+Inf"}'] == values["otalign_align_seconds_count"] == "2"
        )
        assert float(values["otalign_align_seconds_sum"]) > 0
        counts = [int(values[name]) for name in values if "_bucket" in name]
        assert counts == sorted(counts)


def test_any_worker_reports_the_counts_of_all():
    shared = np.zeros((2, SIZE))
    one, other = Metrics(shared, 0), Metrics(shared, 1)
    one.count_request(200)
    other.count_request(200)
    other.count_request(418)
    assert one.to_prometheus() == other.to_prometheus()
    assert 'otalign_requests_total{status="200"} 2' in one.to_prometheus()
    assert 'otalign_requests_total{status="other"} 1' in one.to_prometheus()


def test_convergence_is_reported_where_a_transport_problem_was_solved(server):
    pairs = [*ASKED[:2], {"source": "", "target": "nothing to move"}]
    answer = server.align({"pairs": pairs, "settings": {"problem": "uot"}}).json["alignments"]
    assert [one.get("converged") for one in answer] == [True, True, None]
    assert server.align(ASKED[0] | {"settings": {"problem": "bot"}}).json["converged"] is True
    for problem in ("learned", "none"):
        assert "converged" not in server.align(ASKED[0] | {"settings": {"problem": problem}}).json


def test_a_solver_that_does_not_converge_is_reported(server, monkeypatch):
    monkeypatch.setattr(Entropic, "__init__", partialmethod(Entropic.__init__, max_iterations=1))
    hard = {"problem": "bot", "epsilon": 0.01}
    assert server.align(ASKED[0] | {"settings": hard}).json["converged"] is False


@pytest.mark.parametrize("kind", ["plain", "centred", "shipped"])
def test_a_pair_gets_the_same_links_alone_and_beside_any_others(untrained, kind):
    """Align pairs alone, in one request with others, and beside the requests of others."""
    match kind:
        case "plain":
            aligner = plain(untrained)
        case "centred":
            aligner = untrained.fit_centre(PAIRS)
        case _:
            aligner = Aligner.load()
    alone = [read_links(aligner.align(*pair).to_dict()) for pair in PAIRS]
    with run_server(make_app(aligner)) as server, ThreadPoolExecutor(8) as clients:
        together = server.align({"pairs": ASKED[::-1]}).json["alignments"][::-1]
        beside = [reply.json for reply in clients.map(server.align, ASKED * 4)]
    assert list(map(read_links, together)) == alone
    assert list(map(read_links, beside)) == alone * 4


def test_without_a_centre_the_pairs_of_a_request_are_centred_as_align_many_centres_them(untrained):
    """The same input gets the same links from Python, the command line and the server."""
    assert untrained.settings.centring
    assert untrained.centre is None
    expected = [read_links(alignment.to_dict()) for alignment in untrained.align_many(PAIRS)]
    alone = [read_links(untrained.align(*pair).to_dict()) for pair in PAIRS]
    assert alone != expected  # a pair is centred on itself when it is alone
    with run_server(make_app(untrained)) as server, ThreadPoolExecutor(8) as clients:
        requests = [{"pairs": ASKED}, *ASKED] * 3
        answers = [reply.json for reply in clients.map(server.align, requests)]
    for start in range(0, len(requests), 1 + len(ASKED)):
        together, *single = answers[start : start + 1 + len(ASKED)]
        assert list(map(read_links, together["alignments"])) == expected
        assert list(map(read_links, single)) == alone


def read_links(answer: dict) -> list[tuple[int, int]]:
    return [(i, j) for i, j, _ in answer["links"]]


def test_limits_that_forbid_everything_are_refused():
    with pytest.raises(ValueError, match="pairs must be above 0, got 0"):
        Limits(pairs=0)


def test_the_schema_has_the_limits(server):
    schema = json.loads(server.get("/openapi.json").text)
    assert '"maxItems": 256' in json.dumps(schema["components"]["schemas"]["ManyPairs"])
    assert '"maxLength": 4000' in json.dumps(schema["components"]["schemas"]["OnePair"])
