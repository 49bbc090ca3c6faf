"""Links without words: Pharaoh (`0-0 1p2`), TALP (the same from 1), NAACL (a line a link)."""

import re
from collections.abc import Callable, Iterator

from otalign.alignment import WordlessLinks
from otalign.io.items import Item, LineTally, Pair, levels_of, make_links
from otalign.io.lines import BadLine, FileSection, Line

GAP = 100_000  # sentences without a link in a row; a larger jump of the number is a mistake
NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?(e-?[0-9]+)?")
KEPT = 1 << 16  # tokens whose meaning is kept; a corpus has a few thousand different ones
NAACL_LINE = re.compile(
    r"\s*(0*[1-9][0-9]{0,8})\s+([0-9]{1,9})\s+([0-9]{1,9})(?:\s+([SP]))?(?:\s+[0-9.eE+-]+)?\s*"
)


class Tokens(dict[str, Pair]):
    """The pair that a token such as `3-4` stands for. Looking up is ten times as fast as parsing."""

    def __init__(self, marks: str, first: int = 0):
        self.pattern = re.compile(f"([0-9]{{1,9}})[{re.escape(marks)}]([0-9]{{1,9}})")
        self.first = first
        shown = " or ".join(f"{first}{mark}{first + 1}" for mark in marks)
        self.expected = f"links such as {shown}, counted from {first}"

    def __missing__(self, token: str) -> Pair:
        match = self.pattern.fullmatch(token)
        pair = (int(match[1]) - self.first, int(match[2]) - self.first) if match else (-1, -1)
        if min(pair) < 0:
            raise KeyError(token)
        if len(self) >= KEPT:
            self.clear()
        self[token] = pair
        return pair

    def pairs(self, line: Line, tokens: list[str]) -> list[Pair]:
        try:
            return list(map(self.__getitem__, tokens))
        except KeyError as error:
            raise BadLine(line, repr(error.args[0]), self.expected) from None


PLAIN, PHARAOH, TALP = Tokens("-"), Tokens("-p?"), Tokens("-p", first=1)


def each_line(lines: Iterator[Line]) -> Iterator[list[Line]]:
    return ([line] for line in lines)


def reader(meaning: Tokens) -> Callable[[list[Line], LineTally], WordlessLinks]:
    def links(record: list[Line], merged: LineTally) -> WordlessLinks:
        (line,) = record
        text = _drop_numbers(line.text)
        tokens = text.split()
        if text.count("-") == len(tokens):
            return make_links(line, meaning.pairs(line, tokens), [], merged)
        sure = meaning.pairs(line, [token for token in tokens if "-" in token])
        possible = meaning.pairs(line, [token for token in tokens if "-" not in token])
        return make_links(line, sure, possible, merged)

    return links


def _drop_numbers(text: str) -> str:
    """Drop the columns of weights and nulls that `otalign align` writes after the links, between tabs."""
    links, tab, rest = text.partition("\t")
    return links if tab and all(map(NUMBER.fullmatch, rest.split())) else text


def writer(first: int) -> Callable[[Item, int], str]:
    def line(item: Item, number: int) -> str:
        sure, possible = levels_of(item)
        if not possible:  # as nearly always; twice as fast
            return " ".join([f"{i + first}-{j + first}" for i, j in sorted(sure)]) + "\n"
        marks = {**dict.fromkeys(possible, "p"), **dict.fromkeys(sure, "-")}
        return " ".join(f"{i + first}{mark}{j + first}" for (i, j), mark in sorted(marks.items())) + "\n"

    return line


def by_sentence(lines: Iterator[Line]) -> Iterator[list[Line]]:
    """The lines of each sentence number, from 1; a blank line for a sentence that has none.

    Lines that say no number, or one past or far ahead, stay with the sentence before, where they are bad.
    """
    current, group = 1, FileSection()
    for line in lines:
        words = line.raw.split(maxsplit=1)
        if not words:  # numbers keep the places, so blank lines mean nothing
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


def naacl_links(record: list[Line], merged: LineTally) -> WordlessLinks:
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


def naacl_lines(item: Item, number: int) -> str:
    """A line a link; for a pair without links a null one, which keeps its place."""
    sure, possible = levels_of(item)
    links = (
        f"{number} {i + 1} {j + 1} {'S' if (i, j) in sure else 'P'}\n" for i, j in sorted(sure | possible)
    )
    return "".join(links) or f"{number} 0 0\n"
