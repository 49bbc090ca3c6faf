"""Counters of the server in Prometheus's format.

Each worker process counts in its own row of shared memory, so that any worker can report the sums of all. A
worker that replaces another continues its counts.
"""

import numpy as np

STATUSES = (200, 400, 401, 404, 405, 408, 413, 415, 421, 422, 431, 499, 500, 503, 504)
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # upper bounds, in seconds

_QUEUE, _PAIRS, _SECONDS = range(3)
_LATENCY = 3  # index of the first bucket; the last is unbounded
_REQUESTS = _LATENCY + len(BUCKETS) + 1  # index of the first status; the last is for all others
SIZE = _REQUESTS + len(STATUSES) + 1


class Metrics:
    """The counters of one worker.

    Args:
        shared: Shared memory of all workers, (workers, SIZE); None for a single process.
        worker: Row of this worker.
    """

    def __init__(self, shared: np.ndarray | None = None, worker: int = 0) -> None:
        self._all = np.zeros((1, SIZE)) if shared is None else shared
        self._own = self._all[worker]
        self._own[_QUEUE] = 0

    def count_request(self, status: int) -> None:
        """Count a response by its status."""
        index = STATUSES.index(status) if status in STATUSES else len(STATUSES)
        self._own[_REQUESTS + index] += 1

    def count_alignment(self, pairs: int, seconds: float) -> None:
        """Count the pairs of an answer, and the seconds since its request started."""
        self._own[_PAIRS] += pairs
        self._own[_SECONDS] += seconds
        self._own[_LATENCY + int(np.searchsorted(BUCKETS, seconds))] += 1

    def set_queue(self, pairs: int) -> None:
        """Set the number of pairs in the queue."""
        self._own[_QUEUE] = pairs

    def to_prometheus(self) -> str:
        """Format the sums over all workers in Prometheus's text format."""
        row = self._all.sum(axis=0)
        requests = zip((*STATUSES, "other"), row[_REQUESTS:], strict=True)
        within = np.cumsum(row[_LATENCY:_REQUESTS])
        bounds = zip((*map(str, BUCKETS), "+Inf"), within, strict=True)
        return "\n".join(
            [
                "# HELP otalign_requests_total Requests that were answered, by status; 499: the client left.",
                "# TYPE otalign_requests_total counter",
                *(f'otalign_requests_total{{status="{status}"}} {n:.0f}' for status, n in requests if n),
                "# HELP otalign_pairs_total Pairs that were aligned and answered.",
                "# TYPE otalign_pairs_total counter",
                f"otalign_pairs_total {row[_PAIRS]:.0f}",
                "# HELP otalign_queue_pairs Pairs that wait to be aligned.",
                "# TYPE otalign_queue_pairs gauge",
                f"otalign_queue_pairs {row[_QUEUE]:.0f}",
                "# HELP otalign_align_seconds Time from a request's headers until its alignments were ready.",
                "# TYPE otalign_align_seconds histogram",
                *(f'otalign_align_seconds_bucket{{le="{bound}"}} {n:.0f}' for bound, n in bounds),
                f"otalign_align_seconds_sum {row[_SECONDS]:.6f}",
                f"otalign_align_seconds_count {within[-1]:.0f}",
                "",
            ]
        )
