"""Groups of words, such as synonyms, that augmentation substitutes for each other."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path

from otalign.training.examples import Words


class WordGroups:
    """Words that belong together: synonyms, or words of the same kind.

    Args:
        groups: Words and phrases of each group. The words of a phrase are separated by spaces.

    Example:
        >>> WordGroups([("quit", "give up"), ("3", "three")]).find("Quit")
        (('Give', 'up'),)
    """

    def __init__(self, groups: Iterable[Sequence[str]]) -> None:
        self._others: dict[str, tuple[Words, ...]] = defaultdict(tuple)
        digest = sha256()
        for group in groups:
            phrases = [tuple(phrase.split()) for phrase in dict.fromkeys(group)]
            digest.update(repr(phrases).encode("utf-8", "surrogatepass"))
            for phrase in phrases:
                if len(phrase) == 1:
                    others = tuple(other for other in phrases if other and other != phrase)
                    self._others[phrase[0].lower()] += others
        self.digest = digest.hexdigest()

    @classmethod
    def read(cls, path: Path) -> "WordGroups":
        """Read a file with a group on each line, separated by tabs.

        Raises:
            ValueError: If no line has two words or more.
        """
        lines = path.read_text(encoding="utf-8").splitlines()
        groups = cls(line.split("\t") for line in lines)
        if not any(groups._others.values()):
            raise ValueError(f"{path} has no groups of words; each line must be words separated by tabs")
        return groups

    def find(self, word: str) -> tuple[Words, ...]:
        """Return the other words of a word's groups, with a capital letter where the word has one."""
        others = self._others.get(word.lower(), ())
        if word[:1].isupper():
            return tuple((first[:1].upper() + first[1:], *rest) for first, *rest in others)
        return others

    def __repr__(self) -> str:
        """Describe the groups by their digest, which is part of the identity of a training run."""
        return f"WordGroups({len(self._others)} words, {self.digest[:12]})"
