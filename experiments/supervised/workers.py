"""Worker processes that train models. Each takes the next job that is ready; a crash loses only its job."""

from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait

from experiments.supervised.context import Ground
from experiments.supervised.jobs import Job, Waiting
from experiments.supervised.results import Result
from experiments.supervised.training import Failure, results
from otalign.processes import PipeProcess, exit_with_parent


def run_jobs(jobs: Sequence[Job], ground: Ground, workers: int = 1) -> Iterator[Result | Failure]:
    """Run the jobs and yield their results as they are finished."""
    waiting = Waiting(jobs)
    if workers > 1:
        yield from _run_in_processes(waiting, ground, min(workers, len(jobs)))
        return
    for job in waiting:
        yield from results(job, ground)
        waiting.finish(job)


class JobWorker(PipeProcess):
    """A worker process and its current job."""

    def __init__(self, ground: Ground):
        super().__init__(_serve, ground)
        self.job: Job | None = None

    def submit(self, job: Job) -> None:
        """Give the process a job."""
        self.job = job
        self.connection.send(job)


def _run_in_processes(waiting: Waiting, ground: Ground, workers: int) -> Iterator[Result | Failure]:
    pool: list[JobWorker] = []
    try:
        pool += [JobWorker(ground) for _ in range(workers)]
        while True:
            for worker in pool:
                if worker.job is None and (job := waiting.next()):
                    worker.submit(job)
            busy = {worker.connection: worker for worker in pool if worker.job}
            if not busy:
                return
            for connection in wait(list(busy)):
                worker = busy[connection]  # pyright: ignore[reportArgumentType]
                assert worker.job is not None
                try:
                    message = worker.connection.recv()
                except (EOFError, ConnectionError):
                    message = None
                    yield from _report_lost(worker, ground)
                    worker.stop()
                    pool.remove(worker)
                    pool += [JobWorker(ground)] if waiting.left else []
                if message is None:
                    waiting.finish(worker.job)
                    worker.job = None
                else:
                    yield message
    finally:
        for worker in pool:
            worker.stop()


def _report_lost(worker: JobWorker, ground: Ground) -> Iterator[Failure]:
    """Yield a failure for each unfinished model of a worker that died."""
    worker.process.join()
    assert worker.job is not None
    for place in worker.job.places:
        if not ground.result(place):
            yield Failure(place, f"its process ended, exit code {worker.process.exitcode}")


def _serve(connection: Connection, ground: Ground) -> None:
    """Run jobs in a worker process: receive jobs, send results, and None after the last of a job."""
    import torch

    torch.set_num_threads(1)
    exit_with_parent()  # so that it does not train what a new run trains again
    try:
        while True:
            job = connection.recv()
            for result in results(job, ground):
                connection.send(result)
            connection.send(None)
    except (EOFError, BrokenPipeError):
        return
