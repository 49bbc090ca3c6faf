"""Abbreviations, numbers and names, each with its variants."""

from capabilities.cases import Capability, fill_marked, substitute

ABBREVIATION_FRAMES = [
    "Yesterday @ was in the news .",
    "They asked @ for help .",
    "A letter from @ arrived this morning .",
    "We met @ in the corridor .",
    "According to @ the road is closed .",
    "The speech mentioned @ only once .",
]
ABBREVIATIONS = [
    ("the UN", "the United Nations"),
    ("Dr. Lang", "Doctor Lang"),
    ("the EU", "the European Union"),
    ("Prof. Hill", "Professor Hill"),
    ("the UK", "the United Kingdom"),
    ("Mt. Everest", "Mount Everest"),
    ("the WHO", "the World Health Organization"),
    ("St. Mark", "Saint Mark"),
    ("the USA", "the United States of America"),
    ("Sen. Brown", "Senator Brown"),
    ("NATO", "the North Atlantic Treaty Organization"),
    ("Gen. Ward", "General Ward"),
    ("the IMF", "the International Monetary Fund"),
    ("Capt. Shaw", "Captain Shaw"),
    ("the FBI", "the Federal Bureau of Investigation"),
    ("Lt. Gray", "Lieutenant Gray"),
    ("the BBC", "the British Broadcasting Corporation"),
    ("Gov. Reed", "Governor Reed"),
    ("the CIA", "the Central Intelligence Agency"),
    ("Col. Park", "Colonel Park"),
]
NUMBER_FRAMES = [
    "The village has @ wells .",
    "We counted @ birds on the roof .",
    "It took @ days to repair the road .",
    "About @ guests came to the wedding .",
    "@ of the boats were painted blue .",
    "They sold @ tickets on Sunday .",
]
NUMBERS = [
    ("3", "three"),
    ("12", "twelve"),
    ("7", "seven"),
    ("20", "twenty"),
    ("11", "eleven"),
    ("5", "five"),
    ("50", "fifty"),
    ("9", "nine"),
    ("15", "fifteen"),
    ("30", "thirty"),
    ("4", "four"),
    ("18", "eighteen"),
    ("8", "eight"),
    ("90", "ninety"),
    ("10", "ten"),
    ("6", "six"),
    ("40", "forty"),
    ("13", "thirteen"),
    ("60", "sixty"),
    ("14", "fourteen"),
]
QUANTITIES = [
    ("5 %", "five percent"),
    ("the 3rd day", "the third day"),
    ("200", "two hundred"),
    ("the 21st time", "the twenty-first time"),
    ("1,000", "1000"),
    ("$ 5", "five dollars"),
    ("2 million", "2,000,000"),
    ("half", "50 percent"),
    ("25", "twenty-five"),
    ("10 kg", "ten kilograms"),
    ("3,000", "three thousand"),
    ("the 2nd part", "the second part"),
    ("90 %", "90 percent"),
    ("6 km", "six kilometres"),
    ("a dozen", "twelve"),
    ("42", "forty-two"),
    ("2.5 million", "2,500,000"),
    ("30 min", "thirty minutes"),
    ("one third", "1/3"),
    ("the 1st week", "the first week"),
]
QUANTITY_FRAMES = [
    "They talked about @ yesterday .",
    "Nobody had expected @ .",
    "In the end it was @ .",
    "The figure in the table is @ .",
    "She told him about @ .",
    "The answer is @ , as before .",
]
NAME_FRAMES = [
    "{} lives in a small town .",
    "Yesterday {} opened the exhibition .",
    "The reporters asked {} about the strike .",
    "For many years {} taught music .",
    "The prize went to {} .",
    "Nobody had invited {} to the dinner .",
]
NAMES = [
    ("Robert/1 Miller/2", "Bob/1 Miller/2"),
    ("Anna/0 Kowalski/1", "Kowalski/1"),
    ("William/1 Hart/2", "Bill/1 Hart/2"),
    ("James/1 T./0 Cole/2", "James/1 Cole/2"),
    ("Elizabeth/1 Stone/2", "Liz/1 Stone/2"),
    ("Peter/1 Novak/2", "P./1 Novak/2"),
    ("Maria/1 Lopez/2", "María/1 López/2"),
    ("Susan/0 Reed/1", "Reed/1"),
    ("Michael/1 Ford/2", "Mike/1 Ford/2"),
    ("Thomas/1 Berg/2", "T./1 Berg/2"),
    ("Mr./0 Daniel/1 Frost/2", "Daniel/1 Frost/2"),
    ("Jan/1 Mueller/2", "Jan/1 Müller/2"),
    ("Edward/1 Lane/2", "Ed/1 Lane/2"),
    ("Laura/1 B./0 Quinn/2", "Laura/1 Quinn/2"),
    ("Katherine/1 Wells/2", "Kate/1 Wells/2"),
    ("Andrew/1 Rossi/2", "A./1 Rossi/2"),
    ("Joseph/1 Kern/2", "Joe/1 Kern/2"),
    ("Helen/0 Baker/1", "Baker/1"),
    ("Sergey/1 Orlov/2", "Sergei/1 Orlov/2"),
    ("Dr./0 Paul/1 Meyer/2", "Paul/1 Meyer/2"),
]


GROUP = "variants"
FORM = "Gold: numbers and number words are linked, 98% as sure (92)."
PHRASE = "Gold: a word where the other side has two is linked to one of them in 82%, as sure (1,481)."
WHOLE = "Gold: a word where the other side has two is linked to both in 50%, as sure (1,481): no agreement."
ONE = "The two forms are linked with each other and with nothing else."


def define(name: str, expectation: str, source: str, make) -> Capability:
    """Define a capability of this group."""
    return Capability(name, GROUP, expectation, source, make)


CAPABILITIES = [
    define(
        "abbreviations",
        "The short form is linked to the long one, and neither to anything else.",
        PHRASE,
        substitute(ABBREVIATION_FRAMES, ABBREVIATIONS, whole=False),
    ),
    Capability(
        "abbreviations, every word",
        GROUP,
        "Each word of the long form is linked to some word of the short form.",
        WHOLE,
        substitute(ABBREVIATION_FRAMES, ABBREVIATIONS),
        agreed=False,
    ),
    define("numbers and number words", ONE, FORM, substitute(NUMBER_FRAMES, NUMBERS)),
    define(
        "quantities, ordinals and units",
        "The two forms are linked with each other, and neither to anything else.",
        "Annotators link equal quantities as sure, if not every word of them.",
        substitute(QUANTITY_FRAMES, QUANTITIES, whole=False),
    ),
    define(
        "variants of names",
        "Parts that both names have are linked; a part that only one has is null.",
        "Annotators link given names and surnames each with each; a missing part stays null.",
        fill_marked(NAME_FRAMES, NAMES),
    ),
]
