"""Words that only one sentence has: insertions, deletions, subsets, negation."""

from capabilities.cases import (
    Capability,
    Case,
    Half,
    cross,
    list_words,
    match_same_words,
    take_half,
)

BARE = [
    ("The", "farmer sold his horse to a neighbour ."),
    ("A", "teacher opened the letter from Vienna ."),
    ("The", "museum bought the painting in spring ."),
    ("Our", "train stopped near the border ."),
    ("The", "committee rejected the proposal on Monday ."),
    ("My", "uncle repaired the clock for them ."),
]
ADJECTIVES = list_words(
    "old young nervous famous tired wooden local foreign patient cheerful clumsy honest rich modern small"
    " quiet polite strange busy lucky"
)
TAILS = [
    "after the long war",
    "because the weather was bad",
    "although nobody had asked",
    "which surprised the whole village",
    "in spite of the heavy rain",
    "before the guests arrived",
    "despite many complaints",
    "as several newspapers reported",
    "without telling anyone",
    "when the summer was over",
    "to save some money",
    "while his children slept",
    "with the help of friends",
    "under the new director",
    "even though money was short",
    "against the advice of experts",
]
LEADS = [
    "However ,",
    "According to the radio ,",
    "In fact ,",
    "As everybody knows ,",
    "Two weeks ago ,",
    "To be honest ,",
    "On the other hand ,",
    "For this reason ,",
    "Once again ,",
    "Sadly ,",
    "In other words ,",
    "After some discussion ,",
    "Strangely enough ,",
    "Thanks to good luck ,",
    "As usual ,",
    "Earlier this month ,",
]
STATEMENTS = [
    "the council closed the old library",
    "a storm destroyed the wooden bridge",
    "my cousin moved to another city",
    "the nurse gave him some water",
    "two engineers designed the tunnel",
    "the company published its results",
    "a fox crossed the empty road",
    "the choir sang three songs",
]
PARTS = [
    ("a storm destroyed the bridge", "and the village was cut off for days"),
    ("the museum opened a new wing", "where visitors can see Roman coins"),
    ("the farmer lost half of his sheep", "so he asked his brother for help"),
    ("our team won the final match", "after it had lost twice in autumn"),
    ("the library closes at noon", "since most students are on holiday"),
    ("the minister defended the law", "but many lawyers still opposed it"),
    ("the painter mixed her own colours", "from plants that grew nearby"),
    ("the train to Oslo was late", "because snow covered the tracks"),
    ("the singer cancelled her concert", "and fans demanded their money"),
    ("three boats left the harbour", "before the wind became stronger"),
]
ADDED = [
    ("bread", "and butter/0"),
    ("cats", "and dogs/0"),
    ("tea", "or coffee/0"),
    ("pens", "and paper/0"),
    ("snow", "and ice/0"),
    ("rice", "and beans/0"),
    ("music", "and dance/0"),
    ("wood", "or stone/0"),
    ("gold", "and silver/0"),
    ("salt", "and pepper/0"),
]
ADDED_FRAMES = [
    "They sell @ in the market .",
    "We need @ for the journey .",
    "The song is about @ .",
    "My brother never liked @ .",
    "There was @ in every room .",
    "He wrote a poem about @ .",
]
NEGATED = [
    ("The shop is open .", "The shop is not/0 open ."),
    ("They have seen the film .", "They have not/0 seen the film ."),
    ("We will sell the house .", "We will not/0 sell the house ."),
    ("She can swim .", "She can not/0 swim ."),
    ("The bridge was repaired .", "The bridge was not/0 repaired ."),
    ("He has paid the rent .", "He has never/0 paid the rent ."),
    ("The road is safe .", "The road is not/0 safe ."),
    ("You should answer them .", "You should not/0 answer them ."),
]
NEGATED_TAILS = [
    "",
    "today",
    "this year",
    "after the storm",
    "any more",
    "in this town",
    "without help",
    "before winter",
]
GROUP = "insertions and deletions"
ALONE = "Words of only one sentence are null; the longer words of both are linked to themselves."
NULL = "Annotators leave words without a counterpart null."


def insert_adjective(half: Half) -> list[Case]:
    """Cases in which the target has an additional adjective."""
    return [
        match_same_words(f"{first} {rest}", f"{first} {adjective}/0 {rest}")
        for (first, rest), adjective in cross(BARE, ADJECTIVES, half)
    ]


def insert_tail(half: Half) -> list[Case]:
    """Cases in which the target continues after the end of the source."""
    return [
        match_same_words(f"{one} .", f"{one} {_mark_content(tail)} .")
        for one, tail in cross(STATEMENTS, TAILS, half)
    ]


def delete_lead(half: Half) -> list[Case]:
    """Cases in which the source begins with an additional phrase."""
    return [
        match_same_words(f"{_mark_content(lead)} {one} .", f"{one} .")
        for one, lead in cross(STATEMENTS, LEADS, half)
    ]


def take_part(half: Half) -> list[Case]:
    """Cases in which the target is the first or the last part of the source."""
    made = []
    for one, other in take_half(PARTS, half):
        words = one.split()
        whole = f"{one} {other} ."
        made.append(match_same_words(f"{one} {_mark_content(other)} .", f"{one} ."))
        made.append(match_same_words(f"{_mark_content(one)} {other} .", f"{other} ."))
        made += [match_same_words(whole, " ".join(words[k : k + 4])) for k in range(len(words) - 3)]
        tail = other.split()
        made += [match_same_words(" ".join(tail[k : k + 4]), whole) for k in range(len(tail) - 3)]
    return made


def add_item(half: Half) -> list[Case]:
    """Cases in which the target has an additional item."""
    made = []
    for frame, (item, more) in cross(ADDED_FRAMES, ADDED, half):
        source, target = frame.replace("@", f"{item}/1"), frame.replace("@", f"{item}/1 {more}")
        made += [match_same_words(source, target), match_same_words(target, source)]
    return made


def negate(half: Half) -> list[Case]:
    """Cases in which one sentence negates the other."""
    made = []
    for (one, other), tail in cross(NEGATED, NEGATED_TAILS, half):
        source, target = (f"{text[:-2]} {tail} ." for text in (one, other))
        made += [match_same_words(source, target), match_same_words(target, source)]
    return made


def _mark_content(text: str) -> str:
    """Mark the longer words of a text as null; short ones may correspond to others."""
    return " ".join(f"{word}/0" if len(word) > 4 and word.isalpha() else word for word in text.split())


CAPABILITIES = [
    Capability("adjective inserted", GROUP, ALONE, NULL, insert_adjective),
    Capability("clause or phrase added at the end", GROUP, ALONE, NULL, insert_tail),
    Capability("phrase removed at the beginning", GROUP, ALONE, NULL, delete_lead),
    Capability("subsets", GROUP, ALONE, NULL, take_part),
    Capability("item added", GROUP, ALONE, NULL, add_item),
    Capability("negation", GROUP, "The negation is null; the other words are linked.", NULL, negate),
]
