"""Properties that hold for hostile input, and the command that looks for input that breaks them.

`make test` runs them with few, fixed examples. `make fuzz` runs them, and all other property tests, with many
examples and new seeds until its time is up: `python -m tests.fuzz --minutes 5`. What it finds becomes an
`@example` or a test of its own beside the part that it broke.
"""

from hypothesis import settings

SECONDS = (
    10  # an example may take where time is to be bounded: far more than any needs, on a busy machine too
)


def share_of_examples(share: float, seconds: float | None = None) -> settings:
    """Run a property on a share of the profile's examples, in CI and in fuzzing alike.

    Args:
        share: The share of the profile's number of examples.
        seconds: How long one example may take, or None for any time.
    """
    return settings(
        max_examples=max(1, round(share * settings.default.max_examples)),
        deadline=None if seconds is None else 1000 * seconds,
    )
