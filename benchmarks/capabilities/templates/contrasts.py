"""Other words in the same slot: antonyms, co-hyponyms, numbers, names. Conventions differ on them."""

from capabilities.cases import Capability, substitute

SLOT_FRAMES = [
    "The room was very @ .",
    "Everybody said that the soup was @ .",
    "It is a @ village near the coast .",
    "Their new car is @ .",
    "We have a @ winter behind us .",
    "The first answer was @ , I think .",
]
ANTONYMS = [
    ("hot", "cold"),
    ("big", "small"),
    ("old", "new"),
    ("dark", "bright"),
    ("rich", "poor"),
    ("good", "bad"),
    ("fast", "slow"),
    ("long", "short"),
    ("clean", "dirty"),
    ("safe", "dangerous"),
    ("quiet", "loud"),
    ("easy", "hard"),
    ("wet", "dry"),
    ("soft", "rough"),
    ("strong", "weak"),
    ("full", "empty"),
    ("right", "wrong"),
    ("pretty", "ugly"),
    ("cheap", "expensive"),
    ("warm", "cool"),
]
THING_FRAMES = [
    "She keeps a @ in the garden .",
    "We saw a @ near the river .",
    "The picture shows a @ and two children .",
    "He asked the price of the @ .",
    "There was a @ behind the door .",
    "My father never wanted a @ .",
]
CO_HYPONYMS = [
    ("dog", "cat"),
    ("piano", "violin"),
    ("apple", "pear"),
    ("chair", "table"),
    ("horse", "cow"),
    ("hammer", "saw"),
    ("rose", "tulip"),
    ("truck", "bicycle"),
    ("spoon", "fork"),
    ("eagle", "owl"),
    ("shirt", "coat"),
    ("lion", "tiger"),
    ("lemon", "orange"),
    ("flute", "drum"),
    ("oak", "birch"),
    ("boat", "plane"),
    ("carrot", "onion"),
    ("sheep", "goat"),
    ("lamp", "candle"),
    ("ring", "necklace"),
]
FIGURE_FRAMES = [
    "The village has @ wells .",
    "We counted @ birds on the roof .",
    "It took @ days to repair the road .",
    "About @ guests came to the wedding .",
    "The ticket costs @ euros .",
    "They sold @ lamps on Sunday .",
]
FIGURES = [
    ("12", "35"),
    ("three", "seven"),
    ("40", "90"),
    ("two", "nine"),
    ("150", "210"),
    ("five", "eleven"),
    ("1,000", "4,500"),
    ("ten", "forty"),
    ("8", "26"),
    ("six", "twenty"),
    ("17", "71"),
    ("four", "fifty"),
    ("99", "58"),
    ("eight", "sixty"),
    ("2,300", "760"),
    ("thirteen", "thirty"),
    ("64", "5"),
    ("twelve", "eighty"),
    ("480", "333"),
    ("seventeen", "one"),
]
NAME_FRAMES = [
    "@ opened the exhibition on Monday .",
    "The prize went to @ this year .",
    "We met @ at the station .",
    "For ten years @ taught music here .",
    "According to @ , the road is closed .",
    "A letter from @ arrived yesterday .",
]
NAMES = [
    ("Anna", "Victor"),
    ("Paris", "Madrid"),
    ("Miller", "Rossi"),
    ("Julia", "Simon"),
    ("Berlin", "Oslo"),
    ("Baker", "Novak"),
    ("Clara", "Oscar"),
    ("Vienna", "Prague"),
    ("Nina", "Martin"),
    ("Boston", "Chicago"),
    ("Emma", "Felix"),
    ("Cole", "Meyer"),
    ("Greta", "Hugo"),
    ("Lisbon", "Athens"),
    ("Karin", "Paolo"),
    ("Denver", "Seattle"),
    ("Olga", "Niels"),
    ("Hart", "Lopez"),
    ("Irene", "Jonas"),
    ("Dublin", "Geneva"),
]

GROUP = "contrasts"
WORDS = "Gold: other words between equal words are linked, 90% as sure and 92% at all (2,233); which, varies."
NUMBERS = "Gold: other numbers between equal words, 33% as sure and 65% at all (48): no agreement."
EXPECTATION = "The words that fill the slot are linked with each other."


def define(name: str, frames: list[str], words: list[tuple[str, str]], source: str = WORDS) -> Capability:
    """Define a capability of this group."""
    return Capability(name, GROUP, EXPECTATION, source, substitute(frames, words), agreed=False)


CAPABILITIES = [
    define("antonyms", SLOT_FRAMES, ANTONYMS),
    define("co-hyponyms", THING_FRAMES, CO_HYPONYMS),
    define("other numbers", FIGURE_FRAMES, FIGURES, NUMBERS),
    define("other names", NAME_FRAMES, NAMES),
]
