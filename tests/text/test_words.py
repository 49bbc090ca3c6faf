"""Words: laws for any text, and cases."""

import pickle
import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from otalign.io import lines as corpus_text
from otalign.text.words import Sentence, join_words, split, to_sentence, tokenize

# Texts that exercise the rules: letters, symbols and fragments of both, concatenated in any order.
BITS = (
    *"aIsnJtldcoäÉ0159'’‘.,:;!?-–—…+#@&/$%()[]\"_*`~=<>|^ \t\n字か゛ーกကក👩❤🏽🇦🇧€√ʼ٣²",
    *"\u00a0\u00ad\u200b\u200d\u0301\ufe0f\u20e3\ufeff\u17d2\u0e33",
    *(
        "n't",
        "'s",
        "'ve",
        "cannot",
        "can",
        "not",
        "http://",
        "www.",
        "x@y.z",
        "u.s.",
        "etc",
        "mr",
        "no",
        "inc",
    ),
    *("l'", "d'", "qu'", "us$", "'em", "'90s", "'n'", "-'", "..", "--"),
)
texts = st.text(st.characters(codec="utf-8")) | st.lists(st.sampled_from(BITS), max_size=12).map("".join)

INVISIBLE = set("\u200b\ufeff\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def is_blank(char: str) -> bool:
    return char.isspace() or unicodedata.category(char) in ("Zs", "Zl", "Zp", "Cc") or char in INVISIBLE


@given(texts)
def test_words_are_slices_in_order_and_every_visible_character_is_in_exactly_one(text):
    sentence = tokenize(text)
    assert sentence.text == text
    assert sentence.words == tuple(text[start:end] for start, end in sentence.spans)
    end_before = 0
    for start, end in [*sentence.spans, (len(text), len(text))]:
        assert end_before <= start <= end
        assert all(is_blank(char) for char in text[end_before:start])
        assert not any(is_blank(char) for char in text[start:end])
        end_before = end
    assert all(sentence.words)


@given(texts)
@example("cannot've l'an 'n' U.S.'s J. b. etc. x")
def test_words_joined_by_spaces_are_the_same_words_again(text):
    words = tokenize(text).words
    assert tokenize(" ".join(words)).words == words


@given(texts, texts)
def test_texts_on_two_lines_are_tokenised_apart_but_for_periods(text, other):
    # Whether a period belongs to the word before it can depend on what follows.
    text, other = text.replace(".", ""), other.replace(".", "")
    assert tokenize(f"{text}\n\n{other}").words == tokenize(text).words + tokenize(other).words


@given(texts)
def test_curly_apostrophes_are_as_straight_ones(text):
    text = text.replace("´", "'").replace("‘", "'")
    assert tokenize(text.replace("'", "’")).spans == tokenize(text.replace("’", "'")).spans


@given(texts)
def test_a_combining_mark_stays_with_the_character_before_it(text):
    for start, _ in tokenize(text).spans:
        first = unicodedata.category(text[start])
        assert start == 0 or first[0] != "M" or is_blank(text[start - 1])


@given(texts)
def test_splitting_is_what_corpora_are_split_by(text):
    assert split(text).words == corpus_text.split_words(text)


@given(st.lists(st.text(st.characters(codec="utf-8"))))
def test_joined_words_are_where_they_say(words):
    sentence = join_words(words)
    assert sentence.words == tuple(words)
    assert sentence.text == " ".join(words)


@given(texts)
def test_a_sentence_is_a_value(text):
    sentence = tokenize(text)
    assert sentence == pickle.loads(pickle.dumps(sentence)) == tokenize(text)
    assert hash(sentence) == hash(tokenize(text))


HOSTILE = (
    *(
        "a",
        "1,",
        "1:",
        "'",
        "-",
        ".",
        "e\u0301",
        "a's",
        "'s",
        "n't",
        "a@",
        "a@b.",
        "a+",
        "a.-",
        "..a",
        "u.s. ",
    ),
    *(
        "j. ",
        "etc.)",
        "etc. ",
        "http://",
        "http://(",
        "http://.",
        "www.",
        "#a",
        "l'",
        "cannot",
        "cannot@",
        " ",
    ),
    *("☺\u200d", "🇦", "字", "ក្", "((", "“", "\u0301"),
)


@pytest.mark.parametrize("bit", HOSTILE)
def test_time_grows_with_the_length_and_no_faster(bit):
    # Linear time is well below a second here; quadratic time would be minutes.
    text = bit * (100_000 // len(bit))
    began = time.process_time()
    for hostile in (text, f"etc.{text}x"):
        tokenize(hostile)
    assert time.process_time() - began < 10


EXAMPLES = {
    "clitics are words": [
        "I do|n't| think he|'s| late|, |we|'re| on time|, |they|'ll| see|, |I|'d| say|, |I|'m| sure",
        "ca|n’t|, |wo|N'T|, |should|n't|'ve|, |he|'d|'ve|, |1990|'s|, |U.S.|'s|, |y'all|'re",
        "can|not| and |Can|not|.",
        "dogs|'| tails|, |James|'s",
    ],
    "other apostrophes stay inside": [
        "o'clock rock'n'roll rock 'n' roll O'Neill the '90s mid-'90s get 'em 'tis c'mon d'you aujourd'hui",
        "'|Yes|,|'| he said|, |‘|no|’",
        "``|quoted|''| and |'|quoted|'",
    ],
    "elided words are words, but not in names": [
        "l'|homme |qu'|il |L'|été |c’|est |jusqu'|à |s'|y |dell'|arte |un'|altra",
        "D'Angelo L'Oréal",
    ],
    "hyphens join and dashes part": [
        "well-known COVID-19 second-hand Sino-U.S. U.S.-led -LRB- pre- and post-war |-ness",
        "so |--| he said |–| yes |—| or |-| no",
        "so|--|he said|—|yes|–|no",
        "1990–95|, |50|%|-|60|%",
    ],
    "numbers are whole": [
        "1,234.56 3.14 10:30 1/2 2023-01-05 5th −3 -3 +5 .5 5km/h m² 1½ ١٬٢٣٤٫٥",
        "50|%| of |$|5|, |$|.50|, |US$|5|, |€|5|, |5|€|, |20|°|C",
        "1|, |2|,| 3|; |4|: |a|,|b",
    ],
    "addresses are whole": [
        "see |http://example.org/a_(b)?q=1#c|.",
        "(|https://example.org/|)|, |www.example.com|, |example.org|!",
        "访|问|http://example.org|吧",
        "me@example.co.uk|, |user+tag@example.org|. |@user|: |#tag|, |@bob|'s |#|1",
    ],
    "periods stay with abbreviations and not at the end": [
        "Mr. Smith|, |J. R. R. Tolkien|, |Ph.D.|, |etc.| and so on|, |e.g.| at 5 a.m.| in the |U.S.",
        "He left|.| She stayed|.",
        "It is plan B|.",
        'the firm Acme Inc|.|"',
        "No. 5 said |No|.",
        "А. С. Пушкин|, |это я|.| Потом т.е. всё|.",
    ],
    "punctuation that repeats is one word": [
        "Wait|...| what|?!| no|!!!| well|…| **|bold|** |~~~|",
        "(|(|a|)|)",
        "¿|Qué|?| |¡|No|!| «|Oui|» |“|Hi|,|” |„|Ja|“",
    ],
    "names with symbols are whole": ["AT&T R&D C++ C# C++11 A+ and/or .NET snake_case -LRB-"],
    "an emoji with all that belongs to it is a word": [
        "👩‍👩‍👧|👍🏽|👍🏽|🇩🇪|🇫🇷|1️⃣|2️⃣|#️⃣|❤️|🏴󠁧󠁢󠁥󠁮󠁧󠁿|☺|ok",
    ],
    "marks and joiners stay inside": [
        "cafe\u0301 हिन्दी भाषा مُحَمَّد می‌خواهم soft\u00adhyphen צה״ל בית־ספר col·legi",
    ],
    "scripts without spaces are split finely": [
        "私|は|コー|ヒー|を|飲|む|。|2023|年|か\u3099|ｶﾞ|人|々|葛\U000e0100",
        "น้ำ|ดี",
        "ខ្មែ|រ",
        "မြ|န်|မာ",
        "한국어 문장입니다|.",
    ],
    "what is invisible parts": [
        "a\u200bb".replace("\u200b", "|\u200b|"),
        "a|\u200b|b|\u00a0|b|\u3000|c|\x00|d|\ufeff|e|\u200f|",
    ],
}


@pytest.mark.parametrize(
    ("marked", "rule"), [(marked, rule) for rule, all_marked in EXAMPLES.items() for marked in all_marked]
)
def test_what_is_a_word(marked, rule):
    """A bar is where two words touch, and may be next to a space."""
    expected = tuple(word for part in marked.split("|") for word in part.split(" "))
    expected = tuple(word for word in expected if not all(map(is_blank, word)))
    assert tokenize(marked.replace("|", "")).words == expected, rule


def test_places_are_those_of_the_text():
    assert tokenize(" He  isn't. ").spans == ((1, 3), (5, 7), (7, 10), (10, 11))
    assert split(" a\tb\u00a0c ").words == ("a", "b\u00a0c")
    assert join_words(["a b", "", "c"]).spans == ((0, 3), (4, 4), (5, 6))
    assert tokenize("").words == split(" \t").words == join_words([]).words == ()


def test_what_cannot_be_is_named():
    for spans in (((0, 3),), ((1, 0),), ((-1, 1),), ((0, 2), (1, 2))):
        with pytest.raises(ValueError, match=r"spans must be .* within the 2 characters"):
            Sentence("ab", spans)
    for words in ("a b", [1]):
        with pytest.raises(TypeError, match="words must be a sequence of str"):
            join_words(words)  # type: ignore


def test_lone_surrogates_are_no_text():
    for made in (tokenize, split, lambda text: join_words([text]), to_sentence):
        with pytest.raises(
            ValueError, match=r"character 2 is the lone surrogate U\+DCFF, which is not Unicode"
        ):
            made("a\udcff")
    assert tokenize("😀").words == ("😀",)
