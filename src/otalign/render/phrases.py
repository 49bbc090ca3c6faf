"""The phrases of an alignment in words: those with several words on a side."""

from otalign.alignment import Alignment
from otalign.phrases import PhraseLink
from otalign.render.words import join_words


def describe_phrases(alignment: Alignment) -> str:
    """Return a line with the phrases: `phrases: “passed away” – “died” (n-1, 0.87)`; nothing without any."""
    sentences = alignment.source, alignment.target
    found = []
    for phrase in list_phrases(alignment):
        sides = (
            f"“{join_words([words[k] for k in chosen])}”"
            for words, chosen in zip(sentences, phrase[:2], strict=True)
        )
        found.append(f"{' – '.join(sides)} ({format_detail(phrase)})")
    return f"phrases: {', '.join(found)}" if found else ""


def list_phrases(alignment: Alignment) -> list[PhraseLink]:
    """Return the phrase links with several words on a side."""
    return [phrase for phrase in alignment.phrase_links if phrase.type != "1-1"]


def format_detail(phrase: PhraseLink) -> str:
    """Return type and weight of a phrase link: `n-1, 0.87`."""
    return f"{phrase.type}, {phrase.weight:.2f}"
