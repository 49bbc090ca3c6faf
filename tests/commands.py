"""Commands in processes of their own, forked from one that has imported the package already.

Importing takes most of the time of a short command. The process that forks, `python -m tests.commands`, gets
arguments, folder, environment and the three standard streams of a command, and answers with its exit status.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).parent.parent


class CommandServer:
    """Runs `otalign` commands one after the other, each in a fork of the same process."""

    def __init__(self):
        self.socket, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.commands", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                cwd=ROOT,
            )
        self.lock = threading.Lock()

    def run(
        self, args: list[str], cwd: Path, env: dict[str, str], input: bytes
    ) -> subprocess.CompletedProcess:
        """Run a command, as `subprocess.run` does with captured output."""
        request = json.dumps({"args": args, "cwd": str(cwd), "env": env}).encode()
        (stdin, to_stdin), (from_stdout, stdout), (from_stderr, stderr) = (os.pipe() for _ in range(3))
        outputs: dict[int, bytes] = {}

        def read(fd: int) -> None:
            with open(fd, "rb") as file:
                outputs[fd] = file.read()

        def write() -> None:
            try:
                with open(to_stdin, "wb") as file:
                    file.write(input)
            except BrokenPipeError:
                pass  # the command does not read all of its input

        with self.lock:
            socket.send_fds(self.socket, [len(request).to_bytes(8, "big")], [stdin, stdout, stderr])
            self.socket.sendall(request)
            for fd in (stdin, stdout, stderr):
                os.close(fd)
            threads = [threading.Thread(target=read, args=(fd,)) for fd in (from_stdout, from_stderr)]
            threads.append(threading.Thread(target=write))
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            code = int.from_bytes(self.socket.recv(8, socket.MSG_WAITALL), "big", signed=True)
        return subprocess.CompletedProcess(args, code, outputs[from_stdout], outputs[from_stderr])

    def stop(self) -> None:
        """End the process that forks."""
        self.socket.close()
        self.process.wait()


def _serve(connection: socket.socket) -> None:
    import onnxruntime  # noqa: F401 (what most commands import)
    import tokenizers  # noqa: F401

    import otalign.aligner
    import otalign.cli  # noqa: F401

    while True:
        size, streams, _, _ = socket.recv_fds(connection, 8, 3)
        if not size:
            return
        request = json.loads(connection.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL))
        pid = os.fork()
        if pid == 0:
            connection.close()
            _run(request, streams)
        for stream in streams:
            os.close(stream)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        connection.sendall(code.to_bytes(8, "big", signed=True))


def _run(request: dict, streams: list[int]) -> None:
    """Become a command; this does not return."""
    for fd, stream in enumerate(streams):
        os.dup2(stream, fd)
        os.close(stream)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["otalign", *request["args"]]
    sys.stdin, sys.stdout, sys.stderr = (
        open(fd, mode, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
        for fd, mode, errors in (
            (0, "r", "surrogateescape"),
            (1, "w", "surrogateescape"),
            (2, "w", "backslashreplace"),
        )
    )
    code = 0
    try:
        from otalign.__main__ import main

        main()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 1
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
