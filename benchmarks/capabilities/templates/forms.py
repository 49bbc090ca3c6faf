"""One word in several forms: inflection, derivation, spelling, contractions, hyphens."""

from capabilities.cases import Capability, fill_marked, list_words, substitute

PLURAL_FRAMES = [
    ("She drew the @ in the garden .", "She drew the @ in the garden ."),
    ("We saw one @ at the market .", "We saw several @ at the market ."),
    ("The @ belongs to my aunt .", "The @ belong to my aunt ."),
    ("There was a @ behind the house .", "There were @ behind the house ."),
    ("He forgot the @ on the train .", "On the train he forgot the @ ."),
    ("No @ was found by the police .", "The police found no @ ."),
]
PLURALS = [
    (noun, f"{noun}s")
    for noun in list_words(
        "basket ticket hammer camera lantern bottle carpet pencil window mirror blanket ladder button candle"
        " kettle helmet rabbit tractor violin wallet"
    )
]
TENSE_FRAMES = [
    "They @ to the station .",
    "My cousins @ in the park .",
    "The players @ before the match .",
    "We @ with the others .",
    "The two guards @ near the gate .",
    "The children @ after lunch .",
]
TENSES = [
    ("walk", "walked"),
    ("sang", "sing"),
    ("run", "ran"),
    ("wait", "waited"),
    ("drove", "drive"),
    ("dance", "danced"),
    ("swam", "swim"),
    ("rest", "rested"),
    ("ate", "eat"),
    ("talk", "talked"),
    ("slept", "sleep"),
    ("hurry", "hurried"),
    ("stood", "stand"),
    ("laugh", "laughed"),
    ("spoke", "speak"),
    ("argue", "argued"),
    ("sat", "sit"),
    ("train", "trained"),
    ("fell", "fall"),
    ("shout", "shouted"),
]
DERIVATION_FRAMES = [
    ("They want to @ soon .", "They want a quick @ ."),
    ("It took them a year to @ .", "The @ took them a year ."),
    ("He was able to @ without help .", "His @ needed no help ."),
    ("We expect that they will @ .", "We expect their @ ."),
    ("She refused to @ again .", "She refused another @ ."),
    ("Nobody forced them to @ .", "Their @ was not forced ."),
]
DERIVATIONS = [
    ("decide", "decision"),
    ("arrive", "arrival"),
    ("move", "movement"),
    ("explain", "explanation"),
    ("depart", "departure"),
    ("improve", "improvement"),
    ("negotiate", "negotiation"),
    ("perform", "performance"),
    ("invest", "investment"),
    ("confess", "confession"),
    ("recover", "recovery"),
    ("contribute", "contribution"),
    ("grow", "growth"),
    ("resign", "resignation"),
    ("protest", "protests"),
    ("withdraw", "withdrawal"),
    ("apologise", "apology"),
    ("react", "reaction"),
    ("retire", "retirement"),
    ("choose", "choice"),
]
SPELLING_FRAMES = [
    "The letter mentions the @ twice .",
    "He asked us about the @ again .",
    "I have never understood the @ here .",
    "Our @ is better than theirs .",
    "Please look at the @ on the left .",
    "Someone has already changed the @ .",
]
SPELLINGS = [
    ("colour", "color"),
    ("centre", "center"),
    ("theatre", "theater"),
    ("programme", "program"),
    ("organisation", "organization"),
    ("behaviour", "behavior"),
    ("jewellery", "jewelry"),
    ("catalogue", "catalog"),
    ("licence", "license"),
    ("neighbourhood", "neighborhood"),
    ("tyre", "tire"),
    ("grey", "gray"),
    ("aluminium", "aluminum"),
    ("defence", "defense"),
    ("labour", "labor"),
    ("dialogue", "dialog"),
    ("plough", "plow"),
    ("harbour", "harbor"),
    ("cheque", "check"),
    ("fibre", "fiber"),
]
CONTRACTION_FRAMES = [
    "{} like the soup .",
    "{} know where the keys are .",
    "{} be here before the others .",
    "{} answered the letter .",
    "{} buy the house without a garden .",
    "{} finished the bridge in time .",
]
CONTRACTIONS = [
    ("I do/1 n't/2", "I do/1 not/2"),
    ("They are/1 n't/2", "They are/1 not/2"),
    ("We wo/1 n't/2", "We will/1 not/2"),
    ("She has/1 n't/2", "She has/1 not/2"),
    ("He did/1 n't/2", "He did/1 not/2"),
    ("You ca/1 n't/2", "You can/1 not/2"),
    ("He 'll/1", "He will/1"),
    ("They 've/1", "They have/1"),
    ("I 'd/1", "I would/1"),
    ("We 're/1", "We are/1"),
    ("She is/1 n't/2", "She is/1 not/2"),
    ("They would/1 n't/2", "They would/1 not/2"),
    ("You should/1 n't/2", "You should/1 not/2"),
    ("We have/1 n't/2", "We have/1 not/2"),
    ("It was/1 n't/2", "It was/1 not/2"),
    ("He could/1 n't/2", "He could/1 not/2"),
    ("You 'll/1", "You will/1"),
    ("We 've/1", "We have/1"),
    ("They 'd/1", "They would/1"),
    ("You 're/1", "You are/1"),
]
HYPHEN_FRAMES = [
    "He bought a @ machine .",
    "The @ version is on the table .",
    "Their @ plan failed .",
    "We need another @ system .",
    "That was a @ answer .",
    "Many people prefer the @ model .",
]
HYPHENS = [
    ("second-hand", "second hand"),
    ("e-mail", "email"),
    ("long-term", "long term"),
    ("on-line", "online"),
    ("high-speed", "high speed"),
    ("co-operative", "cooperative"),
    ("low-cost", "low cost"),
    ("multi-purpose", "multipurpose"),
    ("well-written", "well written"),
    ("part-time", "part time"),
    ("full-scale", "full scale"),
    ("pre-war", "prewar"),
    ("short-range", "short range"),
    ("anti-virus", "antivirus"),
    ("last-minute", "last minute"),
    ("semi-automatic", "semiautomatic"),
    ("open-air", "open air"),
    ("non-profit", "nonprofit"),
    ("two-day", "two day"),
    ("state-run", "state run"),
]
GROUP = "forms of words"
FORM = "Annotators link forms of one word as sure"
PLURAL = "Gold: singular and plural are linked, 91% as sure (849)."
TENSE = "Gold: verbs and their regular forms are linked, 88% as sure and 92% at all (490)."
SPELLING = "Gold: words that differ by a letter inside are linked, 95% as sure (103)."


def define(name: str, expectation: str, source: str, make, agreed: bool = True) -> Capability:
    """Define a capability of this group."""
    return Capability(name, GROUP, expectation, source, make, agreed=agreed)


ONE = "The two forms are linked with each other and with nothing else."
CAPABILITIES = [
    define("singular and plural", ONE, PLURAL, substitute(PLURAL_FRAMES, PLURALS)),
    define("tenses", ONE, TENSE, substitute(TENSE_FRAMES, TENSES)),
    define("verb and its noun", ONE, f"{FORM} or possible.", substitute(DERIVATION_FRAMES, DERIVATIONS)),
    define("spelling variants", ONE, SPELLING, substitute(SPELLING_FRAMES, SPELLINGS)),
    define(
        "contractions",
        "The parts of a contraction are linked to the words that they stand for, one by one.",
        "Gold: clitics are linked to the words that they stand for, 87% as sure (38).",
        fill_marked(CONTRACTION_FRAMES, CONTRACTIONS),
    ),
    define(
        "hyphens",
        "All parts of the separated word are linked to the word written as one.",
        "Gold: hyphenated words and their parts are linked, 88% as sure and 92% at all (359).",
        substitute(HYPHEN_FRAMES, HYPHENS),
    ),
]
