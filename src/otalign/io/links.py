"""Links without words: Pharaoh (`0-0 1p2`), TALP (the same, counted from 1) and NAACL (a link per line)."""

import re
from collections.abc import Callable, Iterable, Iterator

from otalign.gold import WordlessLinks
from otalign.io.items import Item, LineTally, Pair, get_levels, make_links
from otalign.io.lines import BadLine, FileSection, Line
from otalign.phrases import find_phrase_links

GAP = 100_000  # consecutive sentences without a link; a larger jump of the number is an error
NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?(e-?[0-9]+)?")
PHRASE = re.compile("[0-9]+(,[0-9]+)*:[0-9]+(,[0-9]+)*")
POSSIBLE = frozenset("p?")  # marks of possible links
CACHE_SIZE = 1 << 16  # tokens; a corpus has a few thousand different ones
NAACL_LINE = re.compile(
    r"\s*(0*[1-9][0-9]{0,8})\s+([0-9]{1,9})\s+([0-9]{1,9})(?:\s+([SP]))?(?:\s+[0-9.eE+-]+)?\s*"
)


class LinkParser(dict[str, Pair]):
    """A parser of tokens such as `3-4`, with a cache: a lookup is ten times as fast as parsing.

    A weight may follow (`3-4-0.75`), which is dropped.
    """

    def __init__(self, marks: str, first: int = 0) -> None:
        self.pattern = re.compile(f"([0-9]{{1,9}})[{re.escape(marks)}]([0-9]{{1,9}})(-{NUMBER.pattern})?")
        self.first = first
        shown = " or ".join(f"{first}{mark}{first + 1}" for mark in marks)
        hint = " (a file that counts from 0 is pharaoh)" if first else ""
        self.expected = f"links such as {shown}, counted from {first}{hint}"

    def __missing__(self, token: str) -> Pair:
        match = self.pattern.fullmatch(token)
        pair = (int(match[1]) - self.first, int(match[2]) - self.first) if match else (-1, -1)
        if min(pair) < 0:
            raise KeyError(token)
        if len(self) >= CACHE_SIZE:
            self.clear()
        if match and match[3] is None:  # weights are seldom the same twice
            self[token] = pair
        return pair

    def parse(self, line: Line, tokens: list[str]) -> list[Pair]:
        """Parse the tokens of a line."""
        try:
            return list(map(self.__getitem__, tokens))
        except KeyError as error:
            raise BadLine(line, repr(error.args[0]), self.expected) from None


SURE_ONLY, PHARAOH, TALP = LinkParser("-"), LinkParser("-p?"), LinkParser("-p", first=1)


def split_lines(lines: Iterator[Line]) -> Iterator[list[Line]]:
    """Make each line a record."""
    return ([line] for line in lines)


def make_parser(parser: LinkParser) -> Callable[[list[Line], LineTally], WordlessLinks]:
    """Return a function that parses a line of links."""

    def parse(record: list[Line], merged: LineTally) -> WordlessLinks:
        (line,) = record
        text, phrases = _split_columns(line.text)
        tokens = text.split()
        if POSSIBLE.isdisjoint(text):
            pairs = parser.parse(line, tokens)
            check_phrases(line, phrases, pairs)
            return make_links(line, pairs, [], merged)
        sure = parser.parse(line, [token for token in tokens if POSSIBLE.isdisjoint(token)])
        possible = parser.parse(line, [token for token in tokens if not POSSIBLE.isdisjoint(token)])
        return make_links(line, sure, possible, merged)

    return parse


def _split_columns(text: str) -> tuple[str, list[str]]:
    """Return links and phrases; drop the columns of numbers that `otalign align` writes beside them."""
    links, tab, rest = text.partition("\t")
    others = [token for token in rest.split() if not NUMBER.fullmatch(token)]
    phrases = split_phrases(" ".join(others))
    return (links, phrases) if tab and len(phrases) == len(others) else (text, [])


def split_phrases(text: str) -> list[str]:
    """Return the phrases of a text; none if it has anything else."""
    phrases = text.split()
    return phrases if all(map(PHRASE.fullmatch, phrases)) else []


def check_phrases(line: Line, given: list[str], pairs: Iterable[Pair]) -> None:
    """Raise BadLine if a line gives other phrases than those of its links."""
    if given:
        expected = [str(phrase) for phrase in find_phrase_links((*pair, 1.0) for pair in set(pairs))]
        if given != expected:
            raise BadLine(
                line, f"the phrases {' '.join(given)}", f"those of the links, {' '.join(expected)}, or none"
            )


def make_formatter(first: int) -> Callable[[Item, int], str]:
    """Return a function that formats links on a line, counted from `first`."""

    def format(item: Item, number: int) -> str:
        sure, possible = get_levels(item)
        if not possible:  # the usual case, twice as fast
            return " ".join([f"{i + first}-{j + first}" for i, j in sorted(sure)]) + "\n"
        marks = {**dict.fromkeys(possible, "p"), **dict.fromkeys(sure, "-")}
        return " ".join(f"{i + first}{mark}{j + first}" for (i, j), mark in sorted(marks.items())) + "\n"

    return format


def group_by_number(lines: Iterator[Line]) -> Iterator[list[Line]]:
    """Group lines by sentence number, from 1; a sentence without lines gets a blank one.

    Lines without a number, or with one that is too low or too high, stay with the sentence before, where they
    raise BadLine.
    """
    current, group = 1, FileSection()
    for line in lines:
        words = line.raw.split(maxsplit=1)
        if not words:  # sentences are numbered, so blank lines have no meaning
            continue
        number = int(words[0]) if words[0].isdigit() and len(words[0]) < 10 else current
        if current < number <= current + GAP:
            blank = [line._replace(raw=b"")]
            yield group or blank
            yield from (blank for _ in range(current + 1, number))
            current, group = number, FileSection()
        group.add(line)
    if group:
        yield group


def parse_naacl(record: list[Line], merged: LineTally) -> WordlessLinks:
    """Parse the lines of a sentence."""
    levels, numbers = {"S": [], "P": []}, set()
    for line in record:
        if not line.raw:
            continue
        match = NAACL_LINE.fullmatch(line.text)
        if not match:
            expected = "sentence, source and target position from 1 (0 = null), perhaps S or P"
            raise BadLine(line, repr(line.text), expected)
        sentence, i, j = map(int, match.groups()[:3])
        numbers.add(sentence)
        if len(numbers) > 1:
            raise BadLine(line, f"sentence {sentence}", "sentences in the order of their numbers")
        if i and j:
            levels[match[4] or "S"].append((i - 1, j - 1))
    return make_links(record[0], levels["S"], levels["P"], merged)


def format_naacl(item: Item, number: int) -> str:
    """Format a link per line; a pair without links gets a null link, which keeps its place."""
    sure, possible = get_levels(item)
    links = (
        f"{number} {i + 1} {j + 1} {'S' if (i, j) in sure else 'P'}\n" for i, j in sorted(sure | possible)
    )
    return "".join(links) or f"{number} 0 0\n"
