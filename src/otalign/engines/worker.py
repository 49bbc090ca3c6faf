"""A process that aligns shards, or that finds links for such processes."""

import gc
import os
import warnings
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from otalign.aligner import Aligner
from otalign.engines.faults import report_death
from otalign.engines.remote import LinkRequest, answer_requests, connect_remote_aligner
from otalign.engines.work import CentreSample, Shard, ShardWork, add_centre, describe_method
from otalign.failures import CapturedError, capture
from otalign.languages import LanguageWarning
from otalign.processes import PipeProcess, exit_with_parent
from otalign.shared_arrays import ArraysHandle, free_arrays

SENT = 4  # pending requests of the process with the model, so that it never waits for the next one


class Worker(PipeProcess):
    """A process with an aligner, and its current task.

    Args:
        work: The work on every shard.
        helps: Whether it requests links from another process. It gets its text stage later, by
            `use_text_stage`, since starting a process takes as long as loading an aligner.

    Attributes:
        task: What it works on.
        reported: Number of pairs of the task that were reported as aligned.
    """

    def __init__(self, work: ShardWork, helps: bool = False) -> None:
        self.arguments = work, helps
        self.text_stage: bytes | None = None
        super().__init__(_serve, *self.arguments)
        self.task: Shard | CentreSample | None = None
        self.reported = 0

    def use_text_stage(self, text_stage: bytes | None) -> None:
        """Give the process its pickled `TextStage`; it gets it again when it is restarted."""
        self.text_stage = text_stage
        self.send(text_stage)

    def restart(self) -> None:
        """End the process, and start another one, without a task."""
        # Even if the process is alive: its GPU, for example, may be unusable after a failure.
        self.stop()
        super().__init__(_serve, *self.arguments)
        self.task = None
        if self.text_stage is not None:
            self.send(self.text_stage)

    def submit(self, task: Shard | CentreSample) -> None:
        """Give the process a task."""
        self.task, self.reported = task, 0
        self.send(task)

    def send(self, message: Any) -> None:
        """Send the process a message; if it has died, `receive` reports that."""
        with suppress(ConnectionError):
            self.connection.send(message)

    def receive(self) -> Any:
        """Wait for the next message of the process; its death is a failure."""
        try:
            return self.connection.recv()
        except (EOFError, OSError):  # the second, if it was killed while it sent a message
            self.process.join()
            return report_death(self.process.exitcode)


class LinkFinder:
    """A worker that finds links for other workers, and its queue of requests.

    Requests are sent in order. If the process dies, its pending requests are sent again one by one, to find
    the shard that kills it.

    Args:
        worker: The worker, which has loaded the aligner.

    Attributes:
        failed: Whether a request has failed, so that the process may be unusable.
    """

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.waiting: dict[int, tuple[Worker | None, LinkRequest]] = {}  # by number of the request
        self.sent: list[int] = []
        self.suspects: set[int] = set()
        self.count = 0
        self.failed = False
        worker.send(None)  # no shards will follow

    def ask(self, worker: Worker, request: LinkRequest) -> None:
        """Add a request, to be answered by `pass_answer`."""
        self.count += 1
        self.waiting[self.count] = worker, request
        self._send()

    def pass_answer(self) -> CapturedError | None:
        """Pass the next answer to the worker that requested it; return a failure if there is none."""
        message = self.worker.receive()
        if isinstance(message, CapturedError):
            return message
        number, answer = message
        worker, _ = self.waiting.pop(number)
        self.sent.remove(number)
        self.suspects.discard(number)
        self._send()
        if worker is not None:
            self.failed |= isinstance(answer, CapturedError)
            worker.send(answer)
        elif isinstance(answer, ArraysHandle):
            free_arrays(answer)
        return None

    @property
    def suspect(self) -> Worker | None:
        """The worker whose request the process was answering when it died."""
        return self.waiting[self.sent[0]][0] if self.sent else None

    def forget(self, worker: Worker) -> None:
        """Drop the request of a worker that has ended."""
        for number, (asking, request) in list(self.waiting.items()):
            if asking is worker:
                free_arrays(request.arrays)
                self.waiting[number] = None, request
                if number not in self.sent:
                    del self.waiting[number]

    def resume(self) -> None:
        """Continue with the process after it was restarted and has loaded the aligner."""
        self.suspects |= set(self.sent)
        self.sent, self.failed = [], False
        self.worker.send(None)
        self._send()

    def stop(self) -> None:
        """End the process, and free the arrays of all requests and answers."""
        for worker in {worker for worker, _ in self.waiting.values() if worker}:
            self.forget(worker)
        self.worker.process.terminate()
        self.worker.process.join()
        with suppress(EOFError, OSError):
            while self.worker.connection.poll():
                _, answer = self.worker.connection.recv()
                if isinstance(answer, ArraysHandle):
                    free_arrays(answer)
        self.worker.stop()

    def _send(self) -> None:
        for number, (_, request) in self.waiting.items():
            if len(self.sent) >= (1 if self.suspects else SENT):
                return
            if number not in self.sent:
                self.worker.send((number, request))
                self.sent.append(number)


def _serve(connection: Connection, work: ShardWork, helps: bool) -> None:
    """Receive tasks and send their results, until one fails."""
    exit_with_parent()
    warnings.simplefilter("ignore", LanguageWarning)  # the parent issues it, once
    try:
        if helps:
            os.environ["TOKENIZERS_PARALLELISM"] = "false"  # there are several processes already
            gc.disable()  # a shard is many objects without cycles
            method = connect_remote_aligner(connection.recv(), connection)
        else:
            method = work.load()
        result: Any = describe_method(method)
        while not isinstance(result, CapturedError):
            connection.send(result)
            match connection.recv():
                case CentreSample() as sample:
                    result = work.write_centre(sample, method)
                case None:
                    method = add_centre(method, work.folder.centre)
                    assert isinstance(method, Aligner)
                    answer_requests(connection, method)
                case shard:
                    if warning := work.check_language(shard, method):
                        connection.send(LanguageWarning(warning))
                    result = work.write(shard, method, connection.send)
                    del shard
                    gc.collect()
    except BaseException as error:
        result = capture(error)
    with suppress(OSError):  # the parent has ended
        connection.send(result)
