"""The columns of the paper's tables: six corpora, each at the level of the sure links and of all links."""

from dataclasses import dataclass

from otalign.alignment import Level

LEVEL_NAMES: dict[Level, str] = {"sure": "S", "possible": "S+P"}  # as papers write them


@dataclass(frozen=True)
class Column:
    """A test set at a level of gold, and the corpus whose dev set it is tuned on."""

    corpus: str
    level: Level
    title: str
    dev: str

    @property
    def heading(self) -> str:
        return f"{self.title} {LEVEL_NAMES[self.level]}"

    @property
    def key(self) -> str:
        return f"{self.corpus} {self.level}"


# From the most nulls to the fewest, as in the paper. Newsela and arXiv have no dev set; Wiki has no
# possible links.
BOTH: tuple[Level, ...] = ("sure", "possible")
COLUMNS = tuple(
    Column(corpus, level, title, dev)
    for corpus, title, dev, levels in (
        ("msr-rte", "MSR-RTE", "msr-rte", BOTH),
        ("newsela", "Newsela", "mtref", BOTH),
        ("edinburgh++", "EDB++", "edinburgh++", BOTH),
        ("mtref", "MTRef", "mtref", BOTH),
        ("arxiv", "arXiv", "mtref", BOTH),
        ("wiki", "Wiki", "wiki", BOTH[:1]),
    )
    for level in levels
)
DEVS = tuple(dict.fromkeys(column.dev for column in COLUMNS))


def dev_levels(dev: str) -> tuple[Level, ...]:
    """Return the levels that a dev set is tuned for."""
    return tuple(dict.fromkeys(column.level for column in COLUMNS if column.dev == dev))
