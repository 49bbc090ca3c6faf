"""Alignments as an HTML page: a single file without external resources, to be read, filtered and printed.

The page is the template `report.html` with styles, scripts and the pairs as JSON lines. The scripts parse and
draw a pair when it scrolls into view, so that thousands of pairs open at once. Words may contain anything: in
JSON they are escaped so that they cannot end the script element, and the scripts insert them as text only.
"""

import json
import re
from collections.abc import Iterable, Mapping
from html import escape
from string import Template
from typing import Any, cast

from otalign.alignment import Alignment, Level
from otalign.gold import Gold
from otalign.render.assets import DRAWING_SCRIPTS, asset
from otalign.render.report.data import Systems, describe

PACKAGE = "otalign.render.report"
SCRIPTS = (  # concatenated in this order into one module
    *("data.js", "verdicts.js", "card.js", "list.js", "filter.js", "address.js"),
    *("summary.js", "errors.js", "export.js", "report.js"),
)
# Characters that could end the script element, or that are not valid in UTF-8.
UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def report(
    systems: Iterable[Alignment] | Systems,
    golds: Iterable[Gold | Alignment] | None = None,
    level: Level = "sure",
    *,
    title: str = "Alignments",
) -> str:
    """Return the page as text.

    Args:
        systems: Alignments to show; or the alignments of several systems, by the name of the system, all of
            the same pairs in the same order.
        golds: Gold alignments in the same order, for verdicts and the F1 of each pair.
        level: Level of gold that counts.
        title: Title of the page.

    Raises:
        ValueError: If there is no system, or if systems or gold have different pairs.

    Example:
        >>> from otalign import Alignment, Link
        >>> one = Alignment(("a", "car"), ("a", "van"), (Link(0, 0), Link(1, 1)))
        >>> other = Alignment(("a", "car"), ("a", "van"), (Link(0, 0),))
        >>> page = report({"one": [one], "other": [other]}, title="Two systems")
        >>> page[:15]
        '<!doctype html>'
    """
    named = cast("Systems", systems if isinstance(systems, Mapping) else {"alignments": systems})
    index, pairs = describe(named, golds, level)
    return Template(asset("report.html", package=PACKAGE)).substitute(
        title=escape(title),
        style=asset("linked.css") + asset("report.css", "card.css", package=PACKAGE),
        # A block of their own, so that the report's names cannot clash with those of the drawing.
        script=f"{asset(*DRAWING_SCRIPTS)}\n{{\n{asset(*SCRIPTS, package=PACKAGE)}\n}}",
        data="\n".join(map(_escape_json, (index, *pairs))),
    )


def _escape_json(data: Any) -> str:
    """Return JSON for a script element: without <, > and &, so that no word can end the element."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
