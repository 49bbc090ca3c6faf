"""Find the examples of the documents, run them, and compare their output with that in the pages.

    python -m tests.docs_examples            # run them all and report differences
    python -m tests.docs_examples --write    # write what they print into the pages
    python -m tests.docs_examples --write docs/align.md    # only those of one page

Blocks of code in README.md and docs/*.md:

    ```python      Run; names live as long as the page. A ```text block right after it is its output.
    ```console     Each line that begins with "$ " is run in a copy of examples/; below it is its output.
    ```sh          Run in the same place. It must succeed, and what it prints is not compared.
    ```json etc.   Needs a comment before it:
                   <!-- file: NAME -->          the block is written to NAME, for the commands below it
                   <!-- output of: COMMAND -->  it was printed by a command that takes long
                   <!-- checked by: TEST -->    a separate test reads it

`<!-- not run: REASON -->` before any block says why it is not run. In outputs `…` matches anything, and
numbers with a decimal point may differ by 0.02, as they do between CPUs; `--write` writes them as printed.
The folder `minilm-l6` is a tiny model with random weights, so what is printed for it is not compared.
"""

import contextlib
import doctest
import http.client
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted([*DOCS.glob("*.md"), *DOCS.glob("api/*.md")])]
RUN = {"python", "console", "sh"}
NOT_OURS = ("pip install", "make ", "python -m venv")  # they have tests, or workflows, of their own
STAND_IN = "minilm-l6"
FENCE = re.compile(r"^(`{3,})([\w{}-]*)")
COMMENT = re.compile(r"^<!-- (not run|file|output of|checked by): (.*?) -->$")
NUMBER = re.compile(r"-?\d+\.\d+")
TOLERANCE = 0.0201
WIDTH = 100  # of a block on the site


@dataclass
class Block:
    """A block of code in a page. Lines count from 0; `first` is the first one inside the fence."""

    page: Path
    first: int
    language: str
    lines: list[str]
    note: tuple[str, str] | None = None  # of a comment before it

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    @property
    def end(self) -> int:
        return self.first + len(self.lines)

    @property
    def is_run(self) -> bool:
        return self.language in RUN and self.note is None

    def __str__(self) -> str:
        return f"{self.page.name}, line {self.first}"


def read_blocks(page: Path) -> list[Block]:
    """Return the blocks of code of a page in order, without Sphinx's directives."""
    blocks: list[Block] = []
    lines = page.read_text(encoding="utf-8").split("\n")
    fence = ""
    for number, line in enumerate(lines):
        match = FENCE.match(line)
        if fence and line.strip() == fence:
            fence = ""
        elif not fence and match:
            fence, language = match.groups()
            comment = COMMENT.match(lines[number - 1]) if number else None
            blocks.append(
                Block(page, number + 1, language, [], (comment[1], comment[2]) if comment else None)
            )
        elif fence:
            blocks[-1].lines.append(line)
    return [block for block in blocks if not block.language.startswith("{")]


@dataclass
class Difference:
    """An example whose output differs from its page."""

    where: str
    expected: str
    printed: str
    first: int  # the lines of the page that hold what is expected
    end: int

    def __str__(self) -> str:
        return f"{self.where} prints\n{self.printed}\nand the page says\n{self.expected}"


@dataclass
class Runner:
    """Runs the blocks of one page in a folder."""

    folder: Path
    names: dict[str, Any] = field(default_factory=dict)
    differences: list[Difference] = field(default_factory=list)
    tolerance: float = TOLERANCE
    port: int | None = None
    server: subprocess.Popen | None = None

    def run(self, blocks: list[Block]) -> None:
        for block, following in pairwise([*blocks, None]):
            assert block is not None
            if block.note and block.note[0] == "file":
                (self.folder / block.note[1]).write_bytes(block.text.encode())
            elif block.is_run and block.language == "python":
                self._run_python(block, following)
            elif block.is_run:
                self._run_commands(block)

    def _run_python(self, block: Block, following: Block | None) -> None:
        if ">>> " in block.text:
            self._run_doctest(block)
            return
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(_adapt(block.text), f"{block}", "exec"), self.names)
        if following and following.language == "text" and following.note is None:
            self._compare(str(block), following.text, printed.getvalue(), following.first, following.end)

    def _run_doctest(self, block: Block) -> None:
        test = doctest.DocTestParser().get_doctest(block.text, self.names, str(block), None, block.first)
        messages: list[str] = []
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        results = doctest.DocTestRunner(optionflags=flags).run(test, out=messages.append, clear_globs=False)
        self.names.update(test.globs)
        assert not results.failed, "".join(messages)

    def _run_commands(self, block: Block) -> None:
        shown = block.language == "console"
        for command, first, end in _commands(block):
            expected = "\n".join(block.lines[first:end])
            code, printed = self._run_command(_adapt(command))
            fails = any(line.startswith("otalign: ") for line in expected.splitlines())
            allowed = {2} if fails else {0, 1} if "otalign diff" in command else {0}
            assert code in allowed, f"{block}: {command}\nended with {code}:\n{printed}"
            if shown and STAND_IN not in command and not command.startswith(NOT_OURS):
                where = f"{block.page.name}, line {block.first + first}: {command}"
                self._compare(where, expected, printed, block.first + first, block.first + end)

    def _compare(self, where: str, expected: str, printed: str, first: int, end: int) -> None:
        if not matches(expected, printed, self.tolerance):
            self.differences.append(
                Difference(where, expected.rstrip("\n"), printed.rstrip("\n"), first, end)
            )

    def _run_command(self, command: str) -> tuple[int, str]:
        if command.startswith(NOT_OURS):
            return 0, ""
        if command.startswith("curl "):
            return 0, self._ask_server(shlex.split(command))
        code, printed = 0, ""
        for program, *arguments in (shlex.split(step) for step in command.split(" | ")):
            if program == "otalign":
                code, printed = run_program(arguments, printed)
            elif program in ("cat", "head"):
                printed = (self.folder / arguments[-1]).read_text(encoding="utf-8")
                if program == "head":
                    unit, count = arguments[0], int(arguments[1])
                    printed = printed[:count] if unit == "-c" else "".join(printed.splitlines(True)[:count])
            else:
                raise AssertionError(f"{command}: say <!-- not run: REASON -->, or teach the test {program}")
        return code, printed

    def _ask_server(self, arguments: list[str]) -> str:
        """Return what the server answers to a curl command; `otalign serve` is started for the first one."""
        if self.port is None:
            self._start_server()
        body, headers, address = None, {}, ""
        rest = iter(arguments[1:])
        for argument in rest:
            if argument == "-d":
                data = next(rest)
                body = (self.folder / data[1:]).read_bytes() if data.startswith("@") else data.encode()
            elif argument == "-H":
                name, _, value = next(rest).partition(":")
                headers[name] = value.strip()
            elif argument != "-s":
                address = argument
        path = "/" + address.partition("/")[2]
        connection = http.client.HTTPConnection("127.0.0.1", self.port or 0, timeout=30)
        with contextlib.closing(connection):
            connection.request("GET" if body is None else "POST", path, body, headers)
            return connection.getresponse().read().decode()

    def _start_server(self) -> None:
        command = [sys.executable, "-m", "otalign", "serve", "--port", "0", "--threads", "1"]
        self.server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert self.server.stdout is not None
        for line in self.server.stdout:
            address = re.search(r"http://127\.0\.0\.1:(\d+)", line)
            if address:
                self.port = int(address[1])
                return
        raise AssertionError("otalign serve ended without an address")

    def close(self) -> None:
        if self.server is not None:
            self.server.terminate()
            self.server.wait(timeout=30)
            assert self.server.stdout is not None
            self.server.stdout.close()


def _commands(block: Block) -> Iterator[tuple[str, int, int]]:
    """Yield each command of a block and the lines, from and to, that hold its output."""
    number = 0
    while number < len(block.lines):
        line = block.lines[number]
        number += 1
        if block.language == "console":
            assert line.startswith("$ "), f"{block}: a console block begins with a command, got {line!r}"
            line = line[2:]
        if not line.strip() or line.startswith("#"):
            continue
        command = [line]
        while not _is_complete("\n".join(command)):
            command.append(block.lines[number])
            number += 1
        first = number
        while block.language == "console" and number < len(block.lines):
            if block.lines[number].startswith("$ "):
                break
            number += 1
        yield _without_comment("\n".join(command)), first, number


def _is_complete(command: str) -> bool:
    if command.endswith("\\"):
        return False
    try:
        shlex.split(command, comments=True)
    except ValueError:
        return False
    return True


def _without_comment(command: str) -> str:
    return re.sub(r"\s+# .*$", "", command.replace("\\\n", " ")).strip()


def _adapt(text: str) -> str:
    """Use the last layer of the stand-in, which has three, if an example asks for the fourth."""
    return text.replace("layer=4", "layer=3").replace("--layer 4", "--layer 3") if STAND_IN in text else text


def run_program(arguments: list[str], given: str = "") -> tuple[int, str]:
    """Run otalign in this process, which is faster than in another; return exit status and output."""
    from otalign.cli import main

    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    input = io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8")
    code = 0
    with (
        mock.patch.object(sys, "argv", ["otalign", *arguments]),
        mock.patch.object(sys, "stdin", input),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
    ):
        try:
            main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
    out.flush()
    return code, out.buffer.getvalue().decode()  # pyright: ignore[reportAttributeAccessIssue]: a BytesIO


def matches(expected: str, printed: str, tolerance: float = TOLERANCE) -> bool:
    """Return whether the output of a page is what was printed: as JSON if both are, else line by line."""
    try:
        return _same_json(json.loads(expected), json.loads(printed), tolerance)
    except ValueError:
        pass
    expected, printed = (
        "\n".join(line.rstrip() for line in text.splitlines()).strip("\n") for text in (expected, printed)
    )
    pattern = "".join(_pattern(part) for part in re.split(r"(…|-?\d+\.\d+)", expected))
    found = re.fullmatch(pattern, printed, re.DOTALL)
    if found is None:
        return False
    numbers = zip(NUMBER.findall(expected), found.groups(), strict=True)
    return all(abs(float(expected) - float(seen)) <= tolerance for expected, seen in numbers)


def _pattern(part: str) -> str:
    return ".*?" if part == "…" else r"(-?\d+\.\d+)" if NUMBER.fullmatch(part) else re.escape(part)


def _same_json(expected: Any, printed: Any, tolerance: float) -> bool:
    if isinstance(expected, dict) and isinstance(printed, dict):
        return expected.keys() == printed.keys() and all(
            _same_json(expected[k], printed[k], tolerance) for k in expected
        )
    if isinstance(expected, list) and isinstance(printed, list):
        same = (_same_json(one, other, tolerance) for one, other in zip(expected, printed, strict=False))
        return len(expected) == len(printed) and all(same)
    if isinstance(expected, str) and isinstance(printed, str):
        return re.fullmatch(".*".join(map(re.escape, expected.split("…"))), printed, re.DOTALL) is not None
    if isinstance(expected, float) or isinstance(printed, float):
        return abs(expected - printed) <= tolerance
    return expected == printed


@contextlib.contextmanager
def prepared_folder(folder: Path, stand_in: Callable[[], Path] | None) -> Iterator[Path]:
    """Copy the sample files into a folder and work there, in a terminal of 80 columns without colour."""
    shutil.copytree(
        ROOT / "examples", folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
    )
    if stand_in is not None:
        shutil.copytree(stand_in(), folder / STAND_IN)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OTALIGN")}
    plain = {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb", "HF_HUB_OFFLINE": "1"}
    path = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    with (
        mock.patch.dict(os.environ, {**kept, **plain, "PYTHONPATH": path}, clear=True),
        contextlib.chdir(folder),
    ):
        yield folder


def run_page(
    page: Path, folder: Path, stand_in: Callable[[], Path], tolerance: float = TOLERANCE
) -> list[Difference]:
    """Run the examples of a page; return those whose output differs from the page."""
    blocks = read_blocks(page)
    needs_model = any(STAND_IN in block.text for block in blocks if block.is_run)
    with prepared_folder(folder, stand_in if needs_model else None):
        runner = Runner(folder, tolerance=tolerance)
        try:
            runner.run(blocks)
        finally:
            runner.close()
    return runner.differences


def break_json(value: Any, indent: int = 1) -> str:
    """Return JSON with the fields and items on lines of their own where one line is too long for a page."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= WIDTH or not isinstance(value, dict | list):
        return line
    between = ",\n" + " " * indent
    if isinstance(value, list):
        return f"[{between.join(break_json(item, indent + 1) for item in value)}]"
    fields = (f"{json.dumps(name)}: {break_json(item, indent + 1)}" for name, item in value.items())
    return f"{{{between.join(fields)}}}"


def _fit_page(printed: str) -> str:
    if len(printed) > WIDTH and "\n" not in printed.strip():
        with contextlib.suppress(ValueError):
            return break_json(json.loads(printed))
    return printed


def write_outputs(page: Path, differences: list[Difference]) -> None:
    """Replace the outputs in the page by those of its examples."""
    lines = page.read_text(encoding="utf-8").split("\n")
    for one in sorted(differences, key=lambda one: -one.first):
        printed = _fit_page(one.printed)
        lines[one.first : one.end] = [line.rstrip() for line in printed.splitlines()]
    page.write_bytes("\n".join(lines).encode())


def main() -> int:
    from tests.encoders import tiny

    chosen = [Path(name).resolve() for name in sys.argv[1:] if name != "--write"] or PAGES
    tolerance = 1e-9 if "--write" in sys.argv else TOLERANCE  # what is written is what is printed
    changed = 0
    for page in chosen:
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as place:
            model = Path(place) / "model"
            folder = Path(place) / "examples"
            make_model = partial(tiny.model, "bert", model, tiny.POSITIONS)
            differences = run_page(page, folder, make_model, tolerance)
        changed += len(differences)
        print(f"{page.name}: {time.perf_counter() - began:.1f} s", *differences, sep="\n")
        if "--write" in sys.argv:
            write_outputs(page, differences)
    return 1 if changed and "--write" not in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
