"""Outlines of texts, which the rules of tokenization read.

An outline keeps the ASCII characters of a text, and replaces every other character by one that represents its
kind. It is as long as the text, so that offsets are the same in both.
"""

import unicodedata

LOWER, UPPER, DIGIT = "ä", "Ä", "0"
MARK, JOINER, KEYCAP = "\u0301", "\u200d", "\u20e3"  # a joiner binds the emoji or consonants on its sides
WHOLE, CONSONANT = "字", "ก"  # scripts without spaces: a word is a character, or a consonant with marks
FLAG, SYMBOL = "🇦", "☺"  # half of a flag; symbols, emoji and other punctuation
BLANK = " "

ALIKE = {
    "'": "‘’´＇",
    "-": "\u2010\u2011−－﹣\u058a\u05be",  # hyphens, minus, Armenian hyphen, Hebrew maqaf
    "–": "‒",
    "—": "―⸺⸻",
    "…": "",
    "!": "！",
    "?": "？",
    ".": "٫",
    ",": "٬",
    "·": "‧\u05f3\u05f4",  # between letters in Catalan; Hebrew geresh and gershayim
    JOINER: "\u17d2\u1039",  # stacks consonants in Khmer and Burmese
    KEYCAP: "",
    MARK: "ーｰﾞﾟำຳ🏻🏼🏽🏾🏿",  # letters and symbols by category that modify the one before
    BLANK: "\u200b\ufeff\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
}
# Scripts are recognised by the names of their characters, so that no table needs updates.
WHOLE_NAMES = ("CJK ", "IDEOGRAPHIC ", "HIRAGANA ", "KATAKANA ", "HALFWIDTH KATAKANA ", "HENTAIGANA ")
CONSONANT_NAMES = ("THAI ", "LAO ", "KHMER ", "MYANMAR ")


class _Outline(dict[int, str]):
    """Map from code point to the character that represents its kind, computed on first use."""

    def __missing__(self, code: int) -> str:
        kind = self[code] = _classify(chr(code))
        return kind


def _classify(char: str) -> str:
    category = unicodedata.category(char)
    if category[0] == "Z" or category == "Cc":
        return BLANK
    if char.isascii():
        return char
    if category[0] == "M" or category == "Cf":
        return MARK
    if "🇦" <= char <= "🇿":
        return FLAG
    if category == "Nd":
        return DIGIT
    if category[0] not in "LN":
        return SYMBOL
    name = unicodedata.name(char, "")
    if name.startswith(WHOLE_NAMES):
        return WHOLE
    if name.startswith(CONSONANT_NAMES):
        return CONSONANT
    return UPPER if category in ("Lu", "Lt") else LOWER


OUTLINE = _Outline({ord(char): kind for kind, alike in ALIKE.items() for char in kind + alike})
