"""Letters and digits of other widths and fonts, such as Ａ (full width) and 𝐀 (mathematical), as ASCII."""

import unicodedata

VARIANTS = ("<wide>", "<font>", "<compat>")  # kinds of decomposition: width, font, and forms such as ſ and Ⅳ


class _PlainLetters(dict[int, int]):
    """Map from code point to that of the plain character, computed on first use."""

    def __missing__(self, code: int) -> int:
        char = chr(code)
        plain = unicodedata.normalize("NFKC", char)
        is_variant = unicodedata.decomposition(char).startswith(VARIANTS)
        known = is_variant and len(plain) == 1 and plain.isascii() and plain.isalnum()
        self[code] = ord(plain) if known else code
        return self[code]


_PLAIN_LETTERS = _PlainLetters()


def make_plain(text: str) -> str:
    """Replace letters and digits of other widths and fonts by those of ASCII.

    Args:
        text: Any text.

    Returns:
        A text of the same length, so that offsets are the same in both. Accents and other scripts stay.

    Example:
        >>> make_plain("Ｗｏｒｄ 𝐖𝐨𝐫𝐝 Wört")
        'Word Word Wört'
    """
    return text if text.isascii() else text.translate(_PLAIN_LETTERS)
