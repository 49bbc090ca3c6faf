"""Progress bars, whose library is imported only where a terminal shows them."""

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text


def make_bars() -> Progress:
    """Return bars on the error stream that leave nothing behind."""
    columns = (TextColumn("{task.description}"), BarColumn(), _Count())
    columns = (*columns, TimeElapsedColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


class _Count(MofNCompleteColumn):
    """The column of what is done, empty for work that reports no progress."""

    def render(self, task: Task) -> Text:
        return super().render(task) if task.total is not None or task.completed else Text()
