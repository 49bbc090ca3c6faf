"""Numbers with nouns, for messages."""


def count_noun(count: int, noun: str) -> str:
    """Return a number with a noun in the singular or plural.

    Args:
        count: The number.
        noun: The noun in the singular, which takes an -s.

    Example:
        >>> count_noun(1, "pair"), count_noun(2000, "dev pair")
        ('1 pair', '2,000 dev pairs')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
