"""Properties that hold for hostile input, and the command that looks for input that breaks them.

`make test` runs them with few, fixed examples. `make fuzz` runs them, and the other property tests of the
same parts, with new seeds until its time is up: `python -m tests.fuzz --minutes 5`. What it finds becomes an
`@example` or a test of its own beside the part that it broke.
"""

from hypothesis import settings

SECONDS = 10  # an example may take: far more than any needs, on a busy machine too


def share_of_examples(share: float) -> settings:
    """Run a property on a share of the profile's examples, in CI and in fuzzing, each in bounded time."""
    return settings(
        max_examples=max(1, round(share * settings.default.max_examples)), deadline=1000 * SECONDS
    )
