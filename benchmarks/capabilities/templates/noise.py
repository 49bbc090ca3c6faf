"""Unrelated sentences and words, typos, case, punctuation, emoji, accents."""

from itertools import combinations
from random import Random
from typing import Any

from capabilities.cases import (
    Capability,
    Case,
    Half,
    cross,
    list_words,
    match_same_words,
    read_case,
    take_half,
)

UNRELATED = [
    "The committee approved the budget .",
    "My sister plays the violin in an orchestra .",
    "Snow fell over the northern mountains .",
    "He repaired the broken window himself .",
    "Prices rose sharply during the second quarter .",
    "A black cat slept under our kitchen table .",
    "Scientists measured the temperature of distant stars .",
    "Please send me your new address .",
    "Both actors forgot their lines .",
    "This recipe needs four eggs and some butter .",
    "Many commuters prefer bicycles to buses .",
    "An earthquake shook the island yesterday .",
    "Her grandfather collected rare postage stamps .",
    "The goalkeeper was injured before half time .",
    "Wild geese return to these lakes every autumn .",
    "Our server crashed twice because of a software bug .",
    "The jury found him guilty of fraud .",
    "Ancient potters mixed clay with sand .",
]
WORDS = list_words(
    "house banana run the quickly seven committee purple sleep although river democracy pencil angry above"
    " Tuesday swim cheese theory slowly lamp forgive because enormous"
)
PAIRS = [
    ("car", "automobile"),
    ("big", "large"),
    ("doctor", "physician"),
    ("buy", "purchase"),
    ("quick", "fast"),
    ("begin", "start"),
    ("shop", "store"),
    ("happy", "glad"),
    ("film", "movie"),
    ("error", "mistake"),
    ("sofa", "couch"),
    ("help", "assist"),
    ("road", "street"),
    ("smart", "clever"),
    ("ship", "vessel"),
    ("rich", "wealthy"),
    ("house", "houses"),
    ("walked", "walking"),
    ("colour", "color"),
    ("12", "twelve"),
    ("Paris", "PARIS"),
    ("music", "music"),
    ("river", "rivers"),
    ("school", "school"),
    ("decide", "decision"),
    ("eat", "eats"),
    ("red", "red"),
    ("answer", "reply"),
    ("child", "kid"),
    ("hard", "difficult"),
    ("Monday", "monday"),
    ("email", "e-mail"),
    ("seven", "7"),
    ("tiny", "small"),
    ("job", "work"),
    ("quiet", "silent"),
    ("because", "because"),
    ("the", "the"),
    ("under", "below"),
    ("nobody", "no-one"),
    ("lawyer", "attorney"),
    ("garden", "garden"),
    ("sick", "ill"),
    ("grey", "gray"),
    ("stop", "end"),
    ("went", "go"),
    ("angry", "furious"),
    ("children", "child"),
    ("town", "city"),
    ("Berlin", "Berlin"),
    ("pretty", "beautiful"),
    ("speak", "talk"),
    ("hotel", "hotels"),
    ("maybe", "perhaps"),
    ("three", "3"),
    ("bread", "bread"),
    ("strange", "odd"),
    ("finish", "finished"),
    ("window", "windows"),
    ("theatre", "theater"),
]
SENTENCES = [
    "the council closed the public library near the station",
    "several engineers designed another tunnel under the river",
    "my neighbour painted his wooden fence yesterday",
    "the orchestra performed three modern pieces without rehearsal",
    "nobody expected such heavy rain during September",
    "the museum bought valuable pictures from private collectors",
    "our teacher explained the difficult question twice",
    "young farmers planted hundreds of cherry trees",
    "the captain changed course because of the storm",
    "their company published disappointing results last week",
    "two students found ancient coins behind the church",
    "the hospital needs more nurses before winter",
]
KEYS = {"a": "s", "e": "r", "i": "o", "o": "p", "n": "m", "t": "y", "r": "e", "l": "k", "s": "d", "c": "v"}
EMOJI = list_words("😀 🎉 ❤️ 👍 😢 🚀 🔥 🙏 😂 ☀️")
ACCENTED = [
    ("café", "cafe"),
    ("naïve", "naive"),
    ("résumé", "resume"),
    ("façade", "facade"),
    ("fiancée", "fiancee"),
    ("jalapeño", "jalapeno"),
    ("soufflé", "souffle"),
    ("Zürich", "Zurich"),
    ("Málaga", "Malaga"),
    ("São", "Sao"),
    ("crème", "creme"),
    ("exposé", "expose"),
    ("piñata", "pinata"),
    ("décor", "decor"),
    ("entrée", "entree"),
    ("Curaçao", "Curacao"),
    ("cliché", "cliche"),
    ("protégé", "protege"),
    ("Köln", "Koln"),
    ("voilà", "voila"),
]
ACCENT_FRAMES = [
    "We talked about the {} for a while .",
    "Her letter mentions the {} twice .",
    "The {} was not what I had expected .",
    "Nobody has seen that {} before .",
    "He laughed about the {} again .",
    "A story about a {} won the prize .",
]
GROUP = "unrelated and noisy text"
SAME = "Each longer word is linked to its counterpart, and to no other word."
NULL_SHARE = 0.8  # of the words of unrelated sentences that must be null


def pair_unrelated(half: Half) -> list[Case]:
    """Sentences that have nothing to do with each other."""
    return [Case(tuple(a.split()), tuple(b.split())) for a, b in combinations(take_half(UNRELATED, half), 2)]


def check_unrelated(aligner: Any, case: Case) -> list[str]:
    """Find links between content words; also, at least four of five words must be null."""
    found = aligner.align(list(case.source), list(case.target))
    faults = [
        f"content link: {case.source[i]}–{case.target[j]}"
        for i, j in sorted(found.pairs)
        if max(len(case.source[i]), len(case.target[j])) > 3
    ]
    nulls = len(found.source_nulls) + len(found.target_nulls)
    share = nulls / (len(case.source) + len(case.target))
    return faults + ([f"only {share:.0%} null"] if share < NULL_SHARE else [])


def pair_unrelated_words(half: Half) -> list[Case]:
    """Single words that have nothing to do with each other."""
    words = take_half(WORDS, half)
    return [read_case(f"{a}/0", f"{b}/0") for a, b in combinations(words, 2)][::2]


def pair_single_words(half: Half) -> list[Case]:
    """Single words that correspond."""
    return [read_case(f"{a}/1", f"{b}/1") for a, b in take_half(PAIRS, half)]


def misspell(word: str, random: Random) -> str:
    """Swap, drop, double or mistype a letter after the first."""
    k = random.randrange(1, len(word) - 1)
    match random.randrange(4):
        case 0 if word[k] != word[k + 1]:
            return word[:k] + word[k + 1] + word[k] + word[k + 2 :]
        case 1:
            return word[:k] + word[k + 1 :]
        case 2:
            return word[: k + 1] + word[k:]
    return word[:k] + KEYS.get(word[k], "x") + word[k + 1 :]


def misspell_some(every: bool):
    """Cases in which one long word, or every one, is misspelled in the target."""

    def make(half: Half) -> list[Case]:
        random, made = Random(f"typos {every} {half}"), []
        for _ in range(6):
            for text in take_half(SENTENCES, half):
                words = [*text.split(), "."]
                long = [k for k, word in enumerate(words) if len(word) >= 5]
                chosen = long if every else [random.choice(long)]
                source = [f"{word}/{k + 1}" if k in long else word for k, word in enumerate(words)]
                target = [
                    f"{misspell(word, random) if k in chosen else word}/{k + 1}" if k in long else word
                    for k, word in enumerate(words)
                ]
                made.append(read_case(" ".join(source), " ".join(target)))
        return made

    return make


def change_case(half: Half) -> list[Case]:
    """Cases whose target is written in another case."""
    changes = (str.upper, str.title, str.capitalize, lambda text: text.swapcase())
    made = []
    for change in changes:
        for text in take_half(SENTENCES, half):
            made.append(match_same_words(f"{text} .", f"{change(text)} ."))
            made.append(match_same_words(f"{change(text)} .", f"{text} !"))
    return made


def change_punctuation(half: Half) -> list[Case]:
    """Cases with punctuation that only one sentence has."""
    made = []
    for text in take_half(SENTENCES, half):
        words = text.split()
        middle = " ".join((*words[:3], ",/0", *words[3:]))
        made += [
            match_same_words(f"{text} .", text),
            match_same_words(text, f'" {text} "'),
            match_same_words(f"{text} .", f"{text} !"),
            match_same_words(f"{text} .", f"{middle} ."),
            match_same_words(f"{text} .", f"- {text} ;"),
            match_same_words(f"( {text} )", f"{text} ..."),
        ]
    return made


def add_emoji(half: Half) -> list[Case]:
    """Cases with an emoji in one of the sentences."""
    made = []
    for text, emoji in cross(SENTENCES, EMOJI, half):
        words = text.split()
        inside = " ".join((*words[:4], f"{emoji}/0", *words[4:]))
        made += [match_same_words(text, f"{text} {emoji}/0"), match_same_words(inside, text)]
    return made


def drop_accents(half: Half) -> list[Case]:
    """Cases in which a word has lost its accents."""
    return [
        read_case(frame.format(f"{a}/1"), frame.format(f"{b}/1"))
        for frame, (a, b) in cross(ACCENT_FRAMES, ACCENTED, half)
    ]


NOTHING = "Annotators leave all words null where nothing corresponds."
FORM = "Gold: words that differ by a letter are linked, 95% as sure (103), equal words 99.5% (59,695)."
CAPABILITIES = [
    Capability(
        "unrelated sentences",
        GROUP,
        "No content word is linked, and at least 80% of all words are null.",
        NOTHING,
        pair_unrelated,
        check_unrelated,
    ),
    Capability("unrelated single words", GROUP, "No link.", NOTHING, pair_unrelated_words),
    Capability(
        "single words that correspond", GROUP, "The words are linked.", "As in sentences.", pair_single_words
    ),
    Capability("typo in one word", GROUP, SAME, FORM, misspell_some(every=False)),
    Capability("typos in every longer word", GROUP, SAME, FORM, misspell_some(every=True)),
    Capability("case", GROUP, SAME, FORM, change_case),
    Capability(
        "punctuation",
        GROUP,
        f"{SAME} An inserted comma is null.",
        "Annotators link words whatever stands around them.",
        change_punctuation,
    ),
    Capability(
        "emoji", GROUP, f"{SAME} The emoji is null.", "A word without counterpart is null.", add_emoji
    ),
    Capability("accents", GROUP, "The two forms are linked.", FORM, drop_accents),
]
