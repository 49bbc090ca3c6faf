"""Word alignment between two sentences, with the words that have no counterpart, by optimal transport."""

__version__ = "0.1.0"
