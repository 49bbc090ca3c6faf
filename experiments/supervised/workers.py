"""Worker processes that train models. Each takes the next job that is ready; a crash loses only its job."""

import os
from collections.abc import Iterator, Sequence
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from threading import Thread

from experiments.supervised.ground import Ground
from experiments.supervised.jobs import Job, Waiting
from experiments.supervised.making import Failure, results
from experiments.supervised.results import Result

ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def run_jobs(jobs: Sequence[Job], ground: Ground, workers: int = 1) -> Iterator[Result | Failure]:
    """Run the jobs and yield their results as they are finished."""
    waiting = Waiting(jobs)
    if workers > 1:
        yield from _run_in_processes(waiting, ground, min(workers, len(jobs)))
        return
    for job in waiting:
        yield from results(job, ground)
        waiting.finish(job)


class JobWorker:
    """A worker process and its current job."""

    def __init__(self, ground: Ground):
        context = get_context("spawn")
        self.job: Job | None = None
        self.ends, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, ground), daemon=True)
        before = {name: os.environ.get(name) for name in ONE_THREAD}
        os.environ.update(ONE_THREAD)  # read when the numerical libraries are loaded
        try:
            self.process.start()
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})
        theirs.close()  # so that the end of the process is noticed

    def take(self, job: Job) -> None:
        self.job = job
        self.ends.send(job)

    def stop(self) -> None:
        self.ends.close()
        if self.job:
            self.process.terminate()
        self.process.join()


def _run_in_processes(waiting: Waiting, ground: Ground, workers: int) -> Iterator[Result | Failure]:
    crew: list[JobWorker] = []
    try:
        crew += [JobWorker(ground) for _ in range(workers)]
        while True:
            for worker in crew:
                if worker.job is None and (job := waiting.next()):
                    worker.take(job)
            busy = {worker.ends: worker for worker in crew if worker.job}
            if not busy:
                return
            for ends in wait(list(busy)):
                worker = busy[ends]  # pyright: ignore[reportArgumentType]
                assert worker.job is not None
                try:
                    message = worker.ends.recv()
                except (EOFError, ConnectionError):
                    message = None
                    yield from _report_lost(worker, ground)
                    worker.stop()
                    crew.remove(worker)
                    crew += [JobWorker(ground)] if waiting.left else []
                if message is None:
                    waiting.finish(worker.job)
                    worker.job = None
                else:
                    yield message
    finally:
        for worker in crew:
            worker.stop()


def _report_lost(worker: JobWorker, ground: Ground) -> Iterator[Failure]:
    """Yield a failure for each unfinished model of a worker that died."""
    worker.process.join()
    assert worker.job is not None
    for place in worker.job.places:
        if not ground.result(place):
            yield Failure(place, f"its process ended, exit code {worker.process.exitcode}")


def _serve(ends: Connection, ground: Ground) -> None:
    """Run jobs in a worker process: receive jobs, send results, and None after the last of a job."""
    import torch

    torch.set_num_threads(1)
    Thread(target=_end_with_the_parent, daemon=True).start()
    try:
        while True:
            job = ends.recv()
            for result in results(job, ground):
                ends.send(result)
            ends.send(None)
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        return


def _end_with_the_parent() -> None:
    """End the worker when its parent is killed, so that it does not train what a new run trains again."""
    if parent := parent_process():
        parent.join()
        os._exit(1)
