"""Helpers beside a process with the model: the same links, and failures that name the shard."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from otalign import Aligner
from otalign.encoders import PreparedPairs
from otalign.engines import Folder, OutputFormat, ShardWork, align
from otalign.engines.remote import LinkRequest, RemoteAligner, TextStage, answer_request
from otalign.failures import CapturedError
from otalign.io import TextPair
from otalign.link_arrays import LinkArrays
from otalign.settings import Settings
from tests.failures.faults import Panic
from tests.scoring.test_paragraphs import NEW, OLD

PAIRS = [TextPair(f"the old car {'very ' * (k % 3)}fast", f"a car {k}") for k in range(20)]
LONG = TextPair(" ".join(OLD), " ".join(NEW[k] for k in (0, 4, 2, 3, 1, 5, 6)))
FATAL = 7  # words of the source that the faults below strike at


@pytest.mark.parametrize("trained", [True, False], ids=["trained, with spelling", "transport, with lengths"])
def test_links_from_another_process_are_those_of_the_aligner_also_of_long_pairs(trained):
    aligner = Aligner.load(threads=1)
    if not trained:
        encoder = aligner.encoder
        options = {"centring": False, "fertility": "length", "structure": 0.2}
        aligner = Aligner(encoder, Settings(encoder=encoder.name, layer=encoder.layer, **options))

    def ask(request: LinkRequest):
        answer = answer_request(aligner, request)
        return answer if isinstance(answer, CapturedError) else answer.handle

    remote = RemoteAligner(TextStage.from_aligner(aligner), ask)
    texts = [(source, target) for source, target in [*PAIRS, LONG, TextPair("", "a"), TextPair("", "")]]
    assert list(remote.align_many(texts)) == list(aligner.align_many(texts))
    assert remote.signature == aligner.signature
    assert remote.language_check.check_pairs([]) is None


class FaultyAligner(Aligner):
    """An aligner that fails at sources of `FATAL` words, each time or, given a file, the first time."""

    kind = "kill"
    grave: Path | None = None

    def find_prepared_links(self, prepared: PreparedPairs, counts: np.ndarray | None = None) -> LinkArrays:
        if (np.diff(prepared.starts)[::2] == FATAL).any() and not (self.grave and self.grave.exists()):
            if self.grave:
                self.grave.touch()
            if self.kind == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            raise Panic("index out", "of bounds")
        return super().find_prepared_links(prepared, counts)


class Load:
    def __init__(self, kind: str, grave: Path | None = None):
        self.kind, self.grave = kind, grave

    def __call__(self) -> Aligner:
        one = Aligner.load(threads=1)
        aligner = FaultyAligner(one.encoder, one.settings, one.centre, one.head, one.languages)
        object.__setattr__(aligner, "kind", self.kind)
        object.__setattr__(aligner, "grave", self.grave)
        return aligner


def run(folder: Path, load, pairs=PAIRS, **options) -> list[bytes]:
    align(pairs, ShardWork(Folder(folder, OutputFormat("jsonl")), load), {}, size=4, **options)
    return [part.read_bytes() for part in sorted(folder.glob("part-*"))]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signal that kills")
@pytest.mark.parametrize("kind", ["kill", "panic"])
def test_a_model_that_fails_once_costs_nothing_but_its_time(tmp_path, kind):
    pairs = [*PAIRS[:9], TextPair("a b c d e f g", "a"), *PAIRS[9:]]
    expected = run(tmp_path / "whole", Load("none", tmp_path), pairs)
    assert run(tmp_path / kind, Load(kind, tmp_path / "grave"), pairs, workers=3) == expected


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signal that kills")
@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("kill", r"part-000002\.jsonl \(pairs 9–12\) failed 3 times, the last: .* signal 9"),
        (
            "panic",
            r"part-000002\.jsonl \(pairs 9–12\) failed 3 times, the last at pair 10: .*out of bounds",
        ),
    ],
)
def test_a_shard_that_the_model_fails_at_is_named(tmp_path, kind, message):
    pairs = [*PAIRS[:9], TextPair("a b c d e f g", "a"), *PAIRS[9:]]
    with pytest.raises(OSError, match=message):
        run(tmp_path / "out", Load(kind), pairs, workers=3)


def test_workers_are_refused_where_no_process_has_a_model_for_them(tmp_path):
    with pytest.raises(ValueError, match="workers"):
        run(tmp_path / "out", Load("none"), workers=2, processes=2)
