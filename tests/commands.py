"""Commands in separate processes, forked from one that has already imported the package.

Importing takes most of the time of a short command. The process that forks, `python -m tests.commands`, gets
arguments, folder, environment and the three standard streams of a command, and answers with its process id
and, once it has ended, its exit status. The processes that a command spawns are forked as well, from it.
"""

import contextlib
import gc
import json
import multiprocessing.util
import os
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from otalign.cli import COMMANDS

ROOT = Path(__file__).parent.parent
PRELOADED = (  # what most commands import, some of it when a command is looked up
    "onnxruntime",
    "tokenizers",
    "pydantic",
    "rich.console",
    "otalign.aligner",
    *(f"otalign.cli.{name}" for name in COMMANDS),
)
_execute_python = multiprocessing.util.spawnv_passfds
STREAMS = {"stdin": "w", "stdout": "r", "stderr": "r"}  # and the mode of a test's end of its pipe


class CommandServer:
    """Starts commands, each in a fork of the same process."""

    def __init__(self):
        self.socket, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.commands", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                cwd=ROOT,
            )
        self.lock = threading.Lock()

    def start(
        self,
        args: list[str],
        *,
        cwd: Path = ROOT,
        env: dict[str, str] | None = None,
        text: bool = False,
        preload: tuple[str, ...] = (),
        **streams: Any,
    ) -> "Command":
        """Start a command as `subprocess.Popen` does.

        Args:
            args: The Python interpreter, and either `-m otalign` or `-c` and code, with arguments.
            cwd: The folder to run it in.
            env: Its environment; that of this process if left out.
            text: Whether pipes carry text.
            preload: Modules that the process that forks imports before, for this command and those after it.
            streams: stdin, stdout and stderr, as `subprocess.Popen` takes them; those of this process if left
                out.
        """
        theirs, ours, closed = [], {}, []
        for number, (name, mode) in enumerate(STREAMS.items()):
            stream = streams.get(name, number)
            if stream == subprocess.PIPE:
                ends = os.pipe() if mode == "r" else os.pipe()[::-1]
                ours[name] = open(ends[0], mode if text else f"{mode}b", encoding="utf-8" if text else None)  # noqa: SIM115
                closed.append(ends[1])
                stream = ends[1]
            theirs.append(stream if isinstance(stream, int) else stream.fileno())
        status, their_status = socket.socketpair()
        environment = dict(os.environ) if env is None else env
        about = {"args": [*map(str, args[1:])], "cwd": str(cwd), "env": environment, "preload": preload}
        request = json.dumps(about).encode()
        with self.lock, their_status:
            size = len(request).to_bytes(8, "big")
            socket.send_fds(self.socket, [size], [*theirs, their_status.fileno()])
            self.socket.sendall(request)
        for fd in closed:
            os.close(fd)
        return Command(list(args), status, ours)

    def run(self, args: list[str], *, input: Any = None, **options: Any) -> subprocess.CompletedProcess:
        """Run a command as `subprocess.run` does with captured output, unless streams are given."""
        streams = dict.fromkeys(STREAMS, subprocess.PIPE)
        with self.start(args, **streams | options) as command:
            out, err = command.communicate(input)
            return subprocess.CompletedProcess(args, command.wait(), out, err)

    def stop(self) -> None:
        """End the process that forks."""
        self.socket.close()
        self.process.wait()


class Command:
    """A running command, with what tests use of `subprocess.Popen`."""

    stdin: Any = None
    stdout: Any = None
    stderr: Any = None
    returncode: int | None = None

    def __init__(self, args: list[str], status: socket.socket, streams: dict[str, Any]):
        self.args, self.status = args, status
        vars(self).update(streams)
        self.pid = self._receive()

    def _receive(self) -> int:
        number = self.status.recv(8, socket.MSG_WAITALL)
        if len(number) < 8:
            raise ChildProcessError("the process that forks has died")
        return int.from_bytes(number, "big", signed=True)

    def __enter__(self) -> "Command":
        return self

    def __exit__(self, *_: object) -> None:
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        self.wait()

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self.status.settimeout(timeout)
            self.returncode = self._receive()
            self.status.close()
        return self.returncode

    def poll(self) -> int | None:
        with contextlib.suppress(BlockingIOError):
            return self.wait(0)
        return None

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, input: Any = None) -> tuple[Any, Any]:
        """Write the input, and return output and errors once the command has ended."""
        output: dict[str, Any] = {}

        def read(name: str, stream: Any) -> None:
            output[name] = stream.read()

        outputs = {"stdout": self.stdout, "stderr": self.stderr}
        threads = [threading.Thread(target=read, args=item) for item in outputs.items() if item[1]]
        for thread in threads:
            thread.start()
        if self.stdin:
            with contextlib.suppress(BrokenPipeError), self.stdin:  # a command need not read all of its input
                if input:
                    self.stdin.write(input)
        for thread in threads:
            thread.join()
        self.wait()
        return output.get("stdout"), output.get("stderr")


def _serve(connection: socket.socket) -> None:
    for module in PRELOADED:
        import_module(module)
    cli = import_module("otalign.cli")
    cli.build_command(cli.app).commands["models"].make_context("models", [])  # Typer imports more to parse
    while True:
        size, fds, _, _ = socket.recv_fds(connection, 8, len(STREAMS) + 1)
        if not size:
            return
        request = json.loads(connection.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL))
        for module in request["preload"]:
            import_module(module)
        with contextlib.suppress(ChildProcessError):  # there is none
            while os.waitpid(-1, os.WNOHANG)[0]:  # so that their CPU time counts for this process
                pass
        gc.freeze()  # so that a fork does not copy what it only looks at
        if os.fork() == 0:
            connection.close()
            _supervise(request, fds[:-1], socket.socket(fileno=fds[-1]))
        for fd in fds:
            os.close(fd)


def _supervise(request: dict, streams: list[int], status: socket.socket) -> None:
    """Start a command, and report its process id and how it has ended; this does not return."""
    pid = os.fork()
    if pid == 0:
        status.close()
        _run(request, streams)
    for stream in streams:
        os.close(stream)
    with contextlib.suppress(BrokenPipeError):
        status.sendall(pid.to_bytes(8, "big", signed=True))
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        status.sendall(code.to_bytes(8, "big", signed=True))
    os._exit(0)


def _run(request: dict, streams: list[int]) -> None:
    """Become a command; this does not return."""
    for fd, stream in enumerate(streams):
        os.dup2(stream, fd)
        os.close(stream)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    vars(multiprocessing.util)["spawnv_passfds"] = _spawn
    option, what, *arguments = request["args"]
    sys.argv = [what if option == "-m" else option, *arguments]
    sys.stdin, sys.stdout, sys.stderr = (
        open(fd, mode, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
        for fd, mode, errors in (
            (0, "r", "surrogateescape"),
            (1, "w", "surrogateescape"),
            (2, "w", "backslashreplace"),
        )
    )
    _exit_after(import_module(f"{what}.__main__").main if option == "-m" else lambda: _execute(what))


def _execute(code: str) -> None:
    exec(code, {"__name__": "__main__"})


def _exit_after(function: Callable[[], object]) -> NoReturn:
    """Call a function, and end the process with the status that an interpreter would end with."""
    code = 0
    try:
        function()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    _flush()
    os._exit(code)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()


def _spawn(path: str, args: Sequence[str | bytes], fds: Iterable[int]) -> int:
    """Start a process of multiprocessing by a fork, where it would execute Python anew.

    The process has what it would have: these file descriptors and the standard ones, signals without
    handlers, and what multiprocessing sends through a pipe.
    """
    texts = [os.fsdecode(arg) for arg in args]
    code = texts[texts.index("-c") + 1]
    if "spawn_main" not in code:  # the tracker of resources, which imports little
        return _execute_python(path, args, fds)
    _flush()
    pid = os.fork()
    if pid:
        return pid
    kept = {0, 1, 2, *fds}
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in map(int, os.listdir("/dev/fd")):
        if fd not in kept:  # not closed: objects that this process has copied may close it in their turn
            with contextlib.suppress(OSError):  # the list itself, which is closed now
                os.dup2(nothing, fd)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            interrupt = number == signal.SIGINT
            signal.signal(number, signal.default_int_handler if interrupt else signal.SIG_DFL)
    sys.argv = texts[texts.index("-c") :]
    del sys.argv[1]
    _exit_after(lambda: _execute(code))


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
