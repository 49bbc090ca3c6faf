"""Phrases in another place: adverbials, voices, recipients, speakers."""

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

NAMES = list_words("Anna Peter Laura Simon Clara Victor Emma Oscar Nina Felix Julia Martin")
ADVERBIALS = [
    "yesterday",
    "after the war",
    "in the evening",
    "without any warning",
    "for many years",
    "on the other side of the river",
    "last summer",
    "to my surprise",
    "at the end of the street",
    "before breakfast",
    "during the storm",
    "with great care",
]
STATEMENTS = [
    "the miller sold his horses",
    "two students found a coin",
    "our neighbours painted their fence",
    "the council closed the library",
    "a stranger bought the farm",
    "the pilot changed the course",
    "my cousin learned Greek",
    "the orchestra played a waltz",
    "her uncle kept bees",
    "the workers stopped the machine",
    "several visitors lost their way",
    "the chemist mixed three powders",
]
VOICES = [
    ("wrote", "written"),
    ("painted", "painted"),
    ("broke", "broken"),
    ("found", "found"),
    ("stole", "stolen"),
    ("repaired", "repaired"),
    ("took", "taken"),
    ("discovered", "discovered"),
    ("chose", "chosen"),
    ("described", "described"),
    ("hid", "hidden"),
    ("destroyed", "destroyed"),
    ("forgot", "forgotten"),
    ("copied", "copied"),
    ("drew", "drawn"),
    ("examined", "examined"),
    ("sold", "sold"),
    ("cleaned", "cleaned"),
    ("kept", "kept"),
    ("lost", "lost"),
]
VOICE_FRAMES = [
    ("The boy/1 {}/2 the letter/3 .", "The letter/3 was {}/2 by/0 the boy/1 ."),
    ("A tourist/1 {}/2 the map/3 .", "The map/3 was {}/2 by/0 a tourist/1 ."),
    ("My aunt/1 {}/2 these pictures/3 .", "These pictures/3 were {}/2 by/0 my aunt/1 ."),
    ("Two workers/1 {}/2 the statue/3 .", "The statue/3 was {}/2 by/0 two workers/1 ."),
    ("An expert/1 {}/2 the coins/3 in 1990/4 .", "In 1990/4 the coins/3 were {}/2 by/0 an expert/1 ."),
    ("The king/1 {}/2 the crown/3 .", "The crown/3 was {}/2 by/0 the king/1 ."),
]
GIFTS = list_words(
    "book watch guitar camera letter ring scarf puppy cake photograph ticket medal"
    " bicycle sandwich notebook hammer blanket ladder violin sweater"
)
DATIVE_FRAMES = [
    ("{} gave {} the {} .", "{} gave the {} to {} ."),
    ("{} showed {} a {} .", "{} showed a {} to {} ."),
    ("{} sent {} the {} .", "{} sent the {} to {} ."),
    ("{} offered {} a {} .", "{} offered a {} to {} ."),
    ("{} bought {} a {} .", "{} bought a {} for {} ."),
    ("{} handed {} the {} .", "{} handed the {} to {} ."),
]
SPEAKERS = ["the mayor", "his lawyer", "our teacher", "a witness", "the captain", "my doctor"]
SPEAKERS += ["one reporter", "her landlord", "a spokesman", "the referee"]
SENTENCES = [
    "the bridge will be closed",
    "nobody was hurt",
    "prices are falling again",
    "the painting is a copy",
    "three houses were damaged",
    "the harvest was poor",
    "the museum needs money",
    "children learn quickly",
    "the tunnel is finished",
    "trains are often late",
    "the forest must be protected",
    "winter came early",
]
GROUP = "order"
SAME = "Each longer word is linked to the same word on the other side, and to no other word."
WORD = "Gold: of equal words that moved 94.5% are linked as sure (3,422), of those in place 99.5% (59,695)."


def move_adverbial(half: Half) -> list[Case]:
    """Cases whose adverbial moves from the end to the front."""
    return [
        match_same_words(f"{statement} {adverbial} .", f"{adverbial} , {statement} .")
        for statement, adverbial in cross(STATEMENTS, ADVERBIALS, half)
    ]


def change_voice(half: Half) -> list[Case]:
    """Cases of actives and passives."""
    return [
        read_case(one.format(active), other.format(passive))
        for (one, other), (active, passive) in cross(VOICE_FRAMES, VOICES, half)
    ]


def move_recipient(half: Half) -> list[Case]:
    """Cases in which the recipient is named before or after the gift."""
    names = take_half(NAMES, half)
    made = []
    for k, ((one, other), gift) in enumerate(cross(DATIVE_FRAMES, GIFTS, half)):
        a, b = names[k % len(names)], names[(k + 1 + k // len(names)) % len(names)]
        if a != b:
            source = one.format(f"{a}/1", f"{b}/2", f"{gift}/3")
            made.append(read_case(source, other.format(f"{a}/1", f"{gift}/3", f"{b}/2")))
    return made


def move_speaker(half: Half) -> list[Case]:
    """Cases in which the speaker is named before or after the words."""
    return [
        match_same_words(f"{speaker} said that {sentence} .", f"{sentence} , {speaker} said .")
        for speaker, sentence in cross(SPEAKERS, SENTENCES, half)
    ]


def define(name: str, make, expectation: str = SAME, source: str = WORD, agreed: bool = True) -> Capability:
    """Define a capability of this group."""
    return Capability(name, GROUP, expectation, source, make, agreed=agreed)


CAPABILITIES = [
    define("adverbial moved", move_adverbial),
    define(
        "active and passive",
        change_voice,
        "Actor, verb and object are linked; by is null.",
        "Annotators link what has the same role, and leave by null.",
    ),
    define("recipient before and after", move_recipient),
    define("speaker before and after", move_speaker),
]
