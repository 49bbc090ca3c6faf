"""Hypothesis strategies for nearly valid bytes and JSON."""

import json
from typing import Any

from hypothesis import strategies as st

# Building blocks of the formats of corpora, and input that has broken readers of other programs.
FRAGMENTS = [
    *(
        b"\n",
        b"\r\n",
        b"\r",
        b"\t",
        b" ",
        b"|||",
        b"a",
        b"0-0",
        b"1p2",
        b"3?0",
        b"-1-2",
        b"1 1 1 S",
        b"99999 1 1",
    ),
    *(
        b"# Sentence pair (1)\n",
        b"# sentence pair 1\n",
        b"NULL ({ })",
        b"a ({ 1 })",
        b"({ / / })",
        b"({ p1 / / })",
    ),
    *(
        b'<sentence id="1" status="">\n',
        b"<source>\n",
        b"</source>\n",
        b"<translation>\n",
        b"</translation>\n",
    ),
    *(
        b"<alignment>\n",
        b"</alignment>\n",
        b"</sentence>\n",
        b"1 a :\n",
        b"1 <==> 1 // EQUI // 5 // a <==> a\n",
    ),
    *(
        b'{"source": "\\ud800", "target": ""}\n',
        b'{"source": ',
        b'"target": ',
        b'"links": ',
        b'"sure": ',
        b'"possible": ',
        b'["a"]',
        b'"a b"',
        b"[[0, 0, 1]]",
    ),
    *(
        b"[" * 3000,
        b"{",
        b"}",
        b",",
        b"null",
        b"NaN",
        b"1e999",
        b"-1",
        b"9" * 5000,
        b'"\\ud800"',
        b'"\\u0000"',
    ),
    *(
        b"\xef\xbb\xbf",
        b"\xff",
        b"\xed\xa0\x80",
        b"\xe2\x80\xa8",
        b"\x85",
        b"\0",
        b"\x1f\x8b\x08",
        b"\x28\xb5\x2f\xfd",
    ),
]
fragments = st.lists(st.sampled_from(FRAGMENTS) | st.binary(max_size=6), max_size=30).map(b"".join)

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["", "\ud800", "../../etc/passwd", "learned", 10**400, -1, 0, 1e308, 2**31, 2**63])
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
nested = st.integers(1, 50_000).map(lambda depth: "[" * depth + "]" * depth)


@st.composite
def changed_bytes(draw, whole: bytes) -> bytes:
    """Change a few bytes: flip, insert, remove, replace or truncate them."""
    content = bytearray(whole)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        match draw(st.sampled_from(["flip", "replace", "insert", "cut"])):
            case "flip" if start < len(content):
                content[start] ^= 1 << draw(st.integers(0, 7))
            case "replace":
                content[start : start + draw(st.integers(1, 16))] = draw(st.binary(max_size=16))
            case "insert":
                content[start:start] = draw(st.binary(min_size=1, max_size=16))
            case "cut":
                del content[start:]
    return bytes(content)


@st.composite
def changed_json(draw, whole: Any) -> bytes:
    """Change a JSON value: remove or replace a part, or nest it deeply."""
    value = json.loads(json.dumps(whole))
    for _ in range(draw(st.integers(1, 3))):
        parent, key = draw(st.sampled_from(list(_places(value)) or [(None, None)]))
        if parent is None:
            break
        if draw(st.booleans()):
            parent[key] = draw(json_values)
        elif isinstance(parent, dict):
            del parent[key]
    text = json.dumps(value)
    if draw(st.integers(0, 9)) == 0:
        text = text.replace(":", ": " + draw(nested) + ', "x":', 1)
    return text.encode()


def _places(value: Any, most: int = 200):
    """Yield each place in a JSON value as the list or dictionary and the index or key in it."""
    waiting = [value]
    while waiting and most > 0:
        inner = waiting.pop(0)
        if not isinstance(inner, list | dict):
            continue
        for key in list(inner if isinstance(inner, dict) else range(len(inner))):
            most -= 1
            yield inner, key
            waiting.append(inner[key])
