"""Every word has a subword, by the tokenizer's own offsets, for all families of tokenizers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from otalign.encoders.subwords import Frame, SubwordTokenizer
from otalign.text.letters import make_plain
from otalign.text.words import Sentence, join_words, split, tokenize
from tests.encoders import tiny

each_family = pytest.mark.parametrize("family", tiny.FAMILIES)
SUBWORDERS = {name: SubwordTokenizer(make()) for name, make in tiny.FAMILIES.items()}
PLAIN = {name: make() for name, make in tiny.FAMILIES.items()}
for tokenizer in PLAIN.values():
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True


def pieces(family: str, sentence: Sentence) -> list[tuple[int, set[int]]]:
    """The id of each subword with the words it is part of, letter by letter."""
    found = []
    encoding = PLAIN[family].encode(make_plain(sentence.text), add_special_tokens=False)
    for id, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
        words = set()
        for letter in range(start, end):
            for k, (first, last) in enumerate(sentence.spans):
                if first <= letter < last:
                    words.add(k)
        found.append((id, words))
    for k in reversed(range(len(sentence.spans))):
        if not any(k in words for _, words in found):
            later = [place for place, (_, words) in enumerate(found) if any(word > k for word in words)]
            found.insert(min(later, default=len(found)), (SUBWORDERS[family].unknown, {k}))
    return found


def list_subwords(family: str, sentence: Sentence) -> list[tuple[int, set[int]]]:
    (subwords,) = SUBWORDERS[family]([sentence])
    found: list[tuple[int, set[int]]] = [(id, set()) for id in subwords.ids]
    for at, word in zip(subwords.at, subwords.word, strict=True):
        assert word not in found[at][1], "a word has each of its subwords once"
        found[at][1].add(word)
    return found


def agrees_and_leaves_no_word_out(family: str, sentence: Sentence):
    found = list_subwords(family, sentence)
    assert found == pieces(family, sentence)
    assert set().union(*(words for _, words in found)) == set(range(len(sentence.spans)))


SENTENCES = {
    "plain": split("he bought a used car yesterday"),
    "nothing": join_words([]),
    "an empty word": join_words([""]),
    "empty words between": join_words(["of", "", "the", "", "", "car", ""]),
    "only spaces": join_words([" ", "  ", "\t"]),
    "spaces in a word": join_words(["of the", "used  car"]),
    "several pieces for a letter": split("😀 👩‍👩‍👧 é 京都 used😀car"),
    "a piece over two words": Sentence("he cannot sell", ((0, 2), (3, 6), (6, 9), (10, 14))),
    "a piece over three words": Sentence("cannot", ((0, 2), (2, 4), (4, 6))),
    "a piece over two words and a space": split("rain of the town"),
    "words that are dropped": join_words(["car", "\u200b", "\u0301", "\u200d", "\ufeff", "\x00", "house"]),
    "only words that are dropped": join_words(["\u200b", "\u0301"]),
    "unknown letters": split("ꙮ car Ꙩꙮ ꙮcarꙮ"),
    "names of special pieces": split("[SEP] [CLS] <s> </s> <pad> [PAD] [MASK] a[SEP]b"),
    "letters that grow": split("ﬁ ﬁve ㎏ 5㎏ ﷺ ½ Ａ ①"),
    "letters that shrink": join_words(["e\u0301", "한", "A\u030a", "カ\u3099"]),
    "letters that grow when lower": split("İstanbul İ ẞ"),
    "Chinese": tokenize("他昨天买了一辆车"),
    "raw text": tokenize("He can't, cannot and won't: $1,234.56 (50%)…"),
    "a very long word": join_words(["a" * 150, "car", "ab" * 400]),
    "letters of the tokenisers": split("▁ ▁the the▁ Ġ Ġthe ##ed ed## <0xF0>"),
    "no-break space": split("the\u00a0car \u00a0 \u3000 car"),
    "spaces around": Sentence("   the car  ", ((3, 6), (7, 10))),
}


@each_family
@pytest.mark.parametrize("case", SENTENCES)
def test_subwords_are_those_that_share_a_letter_with_a_word(family, case):
    agrees_and_leaves_no_word_out(family, SENTENCES[case])


PARTS = (
    (
        "a",
        "the",
        "cannot",
        "of the",
        "x",
        " ",
        "  ",
        "\t",
        "\n",
        "é",
        "e\u0301",
        "\u0301",
        "\u200b",
        "\u200d",
    ),
    ("\ufeff", "\x00", "\x07", "😀", "👩‍👧", "京", "ﬁ", "㎏", "ﷺ", "İ", "½", "▁", "Ġ", "##", "[SEP]", "<s>"),
    ("</s>", "<unk>", "ꙮ", "\u00a0", "\u2028", "\U0010ffff", "한", "'", ".", "1"),
)
AWKWARD = st.sampled_from([part for parts in PARTS for part in parts])
awkward_words = st.lists(st.lists(AWKWARD, max_size=4).map("".join), max_size=8)


@st.composite
def drawn_sentence(draw) -> Sentence:
    """A text split anywhere: adjacent words, empty ones, letters in no word."""
    text = draw(st.lists(AWKWARD, max_size=12).map("".join))
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    return Sentence(text, tuple(zip(cuts[::2], cuts[1::2], strict=False)))


@each_family
@given(st.one_of(awkward_words.map(join_words), drawn_sentence()))
def test_subwords_are_those_that_share_a_letter_with_a_word_whatever_is_drawn(family, sentence):
    agrees_and_leaves_no_word_out(family, sentence)


@each_family
def test_sentences_do_not_depend_on_their_batch(family):
    sentences = list(SENTENCES.values())
    subword_tokenizer = SUBWORDERS[family]
    for together, sentence in zip(subword_tokenizer(sentences), sentences, strict=True):
        (alone,) = subword_tokenizer([sentence])
        assert together.ids == alone.ids
        np.testing.assert_array_equal(together.at, alone.at)
        np.testing.assert_array_equal(together.word, alone.word)


def tokens(family: str, sentence: Sentence) -> list[tuple[str | None, set[int]]]:
    return [
        (SUBWORDERS[family].tokenizer.id_to_token(id), words) for id, words in list_subwords(family, sentence)
    ]


def test_one_piece_may_be_part_of_two_words():
    sentence = Sentence("he cannot", ((0, 2), (3, 6), (6, 9)))
    assert tokens("wordpiece", sentence) == [("he", {0}), ("cannot", {1, 2})]
    found = tokens("unigram, prepend always, split=False", split("rain of the town"))
    assert found == [("▁rain", {0}), ("▁of▁the", {1, 2}), ("▁town", {3})]


def test_a_lone_blank_is_part_of_no_word():
    found = tokens("unigram, prepend never, split=True", split("the ꙮ"))
    assert found == [("the", {0}), ("▁", set()), ("<unk>", {1})]


def test_a_word_that_is_dropped_stands_as_the_unknown_word_in_its_place():
    found = tokens("wordpiece", join_words(["car", "\u0301", "", "house", "\u200b"]))
    assert [token for token, _ in found] == ["car", "[UNK]", "[UNK]", "house", "[UNK]"]
    assert [words for _, words in found] == [{0}, {1}, {2}, {3}, {4}]


def test_an_empty_word_takes_no_part_in_a_piece_around_it():
    found = tokens("byte-level, add_prefix_space=False, trim_offsets=False", join_words(["of", "", "the"]))
    assert ("Ġthe", {2}) in found
    assert [words for _, words in found if 1 in words] == [{1}]


@pytest.mark.parametrize("family", [name for name in tiny.FAMILIES if not name.startswith("unigram")])
def test_names_of_special_pieces_in_a_text_are_letters(family):
    special = {id for ids in SUBWORDERS[family].pair.ids for id in ids}
    sentence = split("[SEP] [CLS] <s> </s>")
    assert not special & {id for id, _ in list_subwords(family, sentence)}


def test_tokenisers_that_cut_and_pad_do_neither():
    long, short = split("car " * 300), split("car")
    for sentence in (long, short):
        assert len(list_subwords("wordpiece that cuts and pads", sentence)) == len(sentence.spans)


@pytest.mark.parametrize(
    ("make", "single", "pair"),
    [
        (
            tiny.wordpiece,
            Frame(((2,), (3,)), ((0,), (0,)), (0,)),
            Frame(((2,), (3,), (3,)), ((0,), (0,), (1,)), (0, 1)),
        ),
        (
            tiny.byte_level,
            Frame(((0,), (2,)), ((0,), (0,)), (0,)),
            Frame(((0,), (2, 2), (2,)), ((0,), (0, 0), (0,)), (0, 0)),
        ),
        (
            tiny.unigram,
            Frame(((), (1,)), ((), (0,)), (0,)),
            Frame(((), (1,), (1,)), ((), (0,), (0,)), (0, 0)),
        ),
        (
            tiny.byte_fallback,
            Frame(((0,), ()), ((0,), ()), (0,)),
            Frame(((0,), (0,), ()), ((0,), (0,), ()), (0, 1)),
        ),
        (
            tiny.make_unframed_tokenizer,
            Frame(((), ()), ((), ()), (0,)),
            Frame(((), (), ()), ((), (), ()), (0, 1)),
        ),
    ],
    ids=["BERT", "RoBERTa", "T5", "only before", "none"],
)
def test_frames_are_read_off_the_tokeniser(make, single, pair):
    subword_tokenizer = SubwordTokenizer(make())
    assert (subword_tokenizer.single, subword_tokenizer.pair) == (single, pair)
    assert pair.size == sum(map(len, pair.ids))


def test_a_tokeniser_that_makes_nothing_of_a_letter_is_refused():
    from tokenizers import models

    with pytest.raises(ValueError, match="nothing for the letter a"):
        SubwordTokenizer(Tokenizer(models.BPE()))


@each_family
def test_letters_of_another_width_or_font_have_the_subwords_of_plain_ones(family):
    plain, *others = (
        list_subwords(family, split(text)) for text in ("used car 12", "ｕｓｅｄ ｃａｒ １２", "𝐮𝐬𝐞𝐝 𝐜𝐚𝐫 𝟏𝟐")
    )
    assert others == [plain, plain]
