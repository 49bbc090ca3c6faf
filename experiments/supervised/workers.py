"""Worker processes that train models. Each takes the next job that is ready; a crash loses only its job."""

from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait

from experiments.supervised.context import StudyContext
from experiments.supervised.jobs import Job, JobQueue
from experiments.supervised.results import Result
from experiments.supervised.training import Failure, run_job
from otalign.processes import PipeProcess, exit_with_parent


def run_jobs(jobs: Sequence[Job], context: StudyContext, workers: int = 1) -> Iterator[Result | Failure]:
    """Run the jobs and yield their results as they are finished."""
    queue = JobQueue(jobs)
    if workers > 1:
        yield from _run_in_processes(queue, context, min(workers, len(jobs)))
        return
    for job in queue:
        yield from run_job(job, context)
        queue.finish(job)


class JobWorker(PipeProcess):
    """A worker process and its current job."""

    def __init__(self, context: StudyContext):
        super().__init__(_serve, context)
        self.job: Job | None = None

    def submit(self, job: Job) -> None:
        """Give the process a job."""
        self.job = job
        self.connection.send(job)


def _run_in_processes(queue: JobQueue, context: StudyContext, workers: int) -> Iterator[Result | Failure]:
    pool: list[JobWorker] = []
    try:
        pool += [JobWorker(context) for _ in range(workers)]
        while True:
            for worker in pool:
                if worker.job is None and (job := queue.next()):
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
                    yield from _report_lost(worker, context)
                    worker.stop()
                    pool.remove(worker)
                    pool += [JobWorker(context)] if queue.waiting else []
                if message is None:
                    queue.finish(worker.job)
                    worker.job = None
                else:
                    yield message
    finally:
        for worker in pool:
            worker.stop()


def _report_lost(worker: JobWorker, context: StudyContext) -> Iterator[Failure]:
    """Yield a failure for each unfinished model of a worker that died."""
    worker.process.join()
    assert worker.job is not None
    for model in worker.job.models:
        if not context.find_result(model):
            yield Failure(model, f"its process ended, exit code {worker.process.exitcode}")


def _serve(connection: Connection, context: StudyContext) -> None:
    """Run jobs in a worker process: receive jobs, send results, and None after the last of a job."""
    import torch

    torch.set_num_threads(1)
    exit_with_parent()  # so that it does not train what a new run also trains
    try:
        while True:
            job = connection.recv()
            for result in run_job(job, context):
                connection.send(result)
            connection.send(None)
    except (EOFError, BrokenPipeError):
        return
