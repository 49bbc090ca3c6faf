"""Detection of text that an aligner does not know: other languages, or words that its tokenizer spells out.

The check is a heuristic. It notices

- other scripts: more than half of the letters are not Latin (for an aligner that knows English only);
- most languages in Latin script (for the same aligners): next to no English function words, and at least half
  of the words fall apart into subwords, have accents, or are function words of other languages;
- text of whose words the tokenizer knows less than half (for every aligner).

It does not know which language a text is in. It does not judge fewer than four words of Latin script, nor
fewer than seven without an accent or a function word of another language, and it misses languages whose words
the tokenizer rarely splits, such as Tswana. English with names, numbers, code, emoji, accents or a quoted
foreign phrase does not trigger it; a lower-cased list of foreign names may.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

import numpy as np

from otalign.encoders import Encoder, PairPreparer
from otalign.failures import LanguageWarning as LanguageWarning  # light, for the command line
from otalign.text.letters import make_plain
from otalign.text.words import Pair, Sentence

CHECKED_PAIRS = 100  # first pairs of a run that are checked
UNKNOWN_SHARE = 0.1  # share of these pairs from which on there is a warning
CHARACTERS = 1000  # characters of a sentence that are read
SHORTEST = 4  # fewest words of a sentence that is judged by its words
SHORT = 7  # fewest words of one that is judged without an accent or a function word of another language

ENGLISH_NAMES = {"english", "en"}
ENGLISH_WORDS = """
about after and any are because been before being between but can could did does during from have him his how
if into it its most not only other our said says she should some such than that the their them then there
these they this those through what when where which while who why will with would you your
"""
# German, French, Spanish, Italian, Portuguese, Dutch, Nordic languages and Polish.
OTHER_WORDS = """
auch auf das dem den der des ein eine einem einen einer für im ist mit nicht sich sind und von wird zu
au avec ce dans du est et la le les ne pas pour que qui sont sur une
como con del el en es las lo los más para por se su un una y
che della di gli il nel non per sono è
ao da em na não os uma
aan dat de een het niet op te van voor zijn
af att av det er ett ikke inte och og på som til till är
jest nie się że
"""
# Function words of English alone, and function words of the other languages alone.
ENGLISH, OTHER = frozenset(ENGLISH_WORDS.split()), frozenset(OTHER_WORDS.split())
# Unicode blocks of scripts other than Latin. A single letter may be a symbol, so that only two or more count.
OTHER_SCRIPT = re.compile(
    "[\u0370-\u1cff\u1f00-\u1fff\u2d00-\u2dff\u3040-\ua4ff\ua840-\uab2f\uab70-\ud7ff\uf900-\ufaff\ufb1d-\ufdff"
    "\ufe70-\ufefe\U00010000-\U0001cfff\U00020000-\U0003ffff]{2,}"
)
LATIN_LETTER = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
PUNCTUATION = ".,;:!?"  # that may follow a word


@dataclass(frozen=True)
class LanguageCheck:
    """Detects text that an aligner does not know.

    Attributes:
        encoder: Encoder of the aligner, or the preparer of its inputs.
        languages: Languages that the aligner declares; empty if it declares none.
    """

    encoder: Encoder | PairPreparer
    languages: tuple[str, ...] = ()

    def check_pair(self, pair: Pair) -> str | None:
        """Return a warning if the language of a sentence seems unknown to the aligner, else None.

        Args:
            pair: The two sentences.
        """
        if self.knows_only_english and any(map(self._looks_foreign, pair)):
            return (
                "this model knows English, but the text seems to be in another language; expect wrong links, "
                "or use a multilingual encoder"
            )
        if any(self._is_unknown(sentence) for sentence in pair):
            return (
                f"the tokenizer of {self.encoder.name} does not know most words of the text; expect wrong "
                "links, or use an encoder for its language"
            )
        return None

    def check_pairs(self, pairs: Iterable[Pair]) -> str | None:
        """Return a warning if the language of many of the first pairs seems unknown, else None.

        Args:
            pairs: The pairs of a run; only the first are read.
        """
        results = [self.check_pair(pair) for pair in islice(pairs, CHECKED_PAIRS)]
        warnings = list(filter(None, results))
        return warnings[0] if warnings and len(warnings) >= UNKNOWN_SHARE * len(results) else None

    @property
    def knows_only_english(self) -> bool:
        """True if English is the only language that the aligner declares."""
        return bool(self.languages) and {name.lower() for name in self.languages} <= ENGLISH_NAMES

    def _looks_foreign(self, sentence: Sentence) -> bool:
        text = make_plain(sentence.text[:CHARACTERS])
        if not text.isascii():
            others = sum(map(len, OTHER_SCRIPT.findall(text)))
            if others and others > len(LATIN_LETTER.findall(text)):
                return True
        words = [token.rstrip(PUNCTUATION) for token in text.split()]
        words = [word for word in words if word.isalpha() and len(word) > 1]  # no code or addresses
        english = sum(map(ENGLISH.__contains__, map(str.lower, words)))
        if len(words) < SHORTEST or english * 10 >= len(words):
            return False
        if len(words) < SHORT and not any(word.lower() in OTHER or not word.isascii() for word in words):
            return False
        words = [word for word in words if word[0].islower()]  # the others may be names
        encoding = self.encoder.subword_tokenizer.tokenizer.encode(
            words, is_pretokenized=True, add_special_tokens=False
        )
        counts = Counter(encoding.word_ids)
        pieces = [3 if word in OTHER or not word.isascii() else counts[k] for k, word in enumerate(words)]
        split, scattered = (sum(count >= least for count in pieces) for least in (2, 3))
        return scattered >= max(2, len(words) / 4) and split >= len(words) / 2

    def _is_unknown(self, sentence: Sentence) -> bool:
        """Return whether most words of a sentence are unknown to the tokenizer, or spelled by letters."""
        if sentence.text.isascii() or len(sentence.text) > CHARACTERS:
            return False
        subword_tokenizer = self.encoder.subword_tokenizer
        (subwords,) = subword_tokenizer([sentence])
        counts = np.bincount(subwords.word, minlength=len(sentence.spans))
        unknown = np.zeros(len(counts), bool)
        unknown[subwords.word[np.asarray(subwords.ids)[subwords.at] == subword_tokenizer.unknown]] = True
        written = np.array([any(map(str.isalpha, word)) for word in sentence.words], bool)
        lengths = np.array([len(word) for word in sentence.words], int)
        missed = (unknown | (counts >= np.maximum(lengths, 3))) & written
        return bool(missed.sum() > max(1, written.sum() / 2))
