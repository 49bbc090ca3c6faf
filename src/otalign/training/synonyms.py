"""Synonyms that augmentation puts in the place of words."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path

from otalign.training.examples import Words


class Synonyms:
    """The synonyms of words; a synonym may consist of several words.

    Args:
        groups: Groups of words with the same meaning. The parts of a phrase are separated by spaces.

    Example:
        >>> Synonyms([("quit", "give up"), ("3", "three")]).find("Quit")
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
    def read(cls, path: Path) -> "Synonyms":
        """Read a file with a group on each line, separated by tabs.

        Raises:
            ValueError: If no line has two words or more.
        """
        lines = path.read_text(encoding="utf-8").splitlines()
        synonyms = cls(line.split("\t") for line in lines)
        if not any(synonyms._others.values()):
            raise ValueError(f"{path} has no synonyms; each line must be words separated by tabs")
        return synonyms

    def find(self, word: str) -> tuple[Words, ...]:
        """Return the synonyms of a word, with a capital letter where the word has one."""
        found = self._others.get(word.lower(), ())
        if word[:1].isupper():
            return tuple((first[:1].upper() + first[1:], *rest) for first, *rest in found)
        return found

    def __repr__(self) -> str:
        """Describe the synonyms by their digest, which decides whether a training is the same."""
        return f"Synonyms({len(self._others)} words, {self.digest[:12]})"
