"""A real browser for the tests: headless Chromium, driven by its DevTools protocol over two pipes.

    with Browser() as browser, browser.page(width=360, height=800) as page:
        page.open(path_or_url)
        page.press("Tab")
        assert page.evaluate("document.activeElement.id") == "search"
        assert not page.errors

Every call waits until the browser has finished it, or raises `TimeoutError`. Nothing is needed but Chromium
itself, found by name or through the environment variable CHROMIUM.
"""

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATIENCE = 30.0  # seconds until something must have come
OPTIONS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--no-first-run", "--no-default-browser-check", "--mute-audio", "--disable-extensions"),
    # Only pages send requests, and screenshots are the same everywhere.
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--hide-scrollbars", "--force-color-profile=srgb", "--font-render-hinting=none"),
    # Two pages of the address bar, which no test uses, would be loaded for every page, and take a second.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",
)
LEFT = "Inspected target navigated or closed"
HIGH = 10  # a pipe's ends are moved above the numbers that Chromium listens at, 3 and 4

Event = tuple[str, dict[str, Any]]  # what happened in a page, and the details

# What the protocol wants to know of a key that is not a letter: its code, and the text it types.
KEYS = {
    "Tab": (9, ""),
    "Enter": (13, "\r"),
    "Escape": (27, ""),
    " ": (32, " "),
    "PageUp": (33, ""),
    "PageDown": (34, ""),
    "End": (35, ""),
    "Home": (36, ""),
    "ArrowLeft": (37, ""),
    "ArrowUp": (38, ""),
    "ArrowRight": (39, ""),
    "ArrowDown": (40, ""),
    "Backspace": (8, ""),
    "Delete": (46, ""),
}
MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}


def chromium() -> str | None:
    """Return the path of the browser, if there is one."""
    return next(filter(None, map(shutil.which, (os.environ.get("CHROMIUM", ""), *NAMES))), None)


class PageError(Exception):
    """An exception of the JavaScript in a page, or an error of the browser."""


class Browser(AbstractContextManager["Browser"]):
    """A Chromium with a temporary profile, which is deleted when it is closed."""

    def __init__(self):
        program = chromium()
        if program is None:
            raise FileNotFoundError(f"no browser: install one of {', '.join(NAMES)}, or set CHROMIUM")
        self._folder = tempfile.mkdtemp(prefix="otalign-browser-")
        options = [*OPTIONS, f"--user-data-dir={self._folder}", "--remote-debugging-pipe", "about:blank"]
        self._process, self._in, self._out = _started([program, *options])
        self._heard = b""
        self._number = 0
        self._events: dict[str, Callable[[Event], None]] = {}  # by the page's session
        self._shared: Page | None = None

    @contextmanager
    def page(self, width: int = 1000, height: int = 800) -> Iterator["Page"]:
        """A fresh page of this size, with nothing kept from others."""
        context = self.send("Target.createBrowserContext")["browserContextId"]
        try:
            yield self._open_tab(context, width, height)
        finally:
            self.send("Target.disposeBrowserContext", browserContextId=context)

    def shared_page(self, width: int = 1000, height: int = 800) -> "Page":
        """Return one page again and again, reset each time, since a fresh one takes twice as long.

        What `Page.reset` does not undo is done in a fresh page.
        """
        if self._shared:
            with suppress(TimeoutError, PageError):  # a page that does not answer any more is replaced
                self._shared.reset(width, height)
                return self._shared
        context = self.send("Target.createBrowserContext")["browserContextId"]
        self._shared = self._open_tab(context, width, height)
        return self._shared

    def _open_tab(self, context: str, width: int, height: int) -> "Page":
        about = {"url": "about:blank", "browserContextId": context}
        target = self.send("Target.createTarget", **about)["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Page(self, session, width, height)

    def listen(self, session: str, hear: Callable[[Event], None]) -> None:
        self._events[session] = hear

    def send(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Send a command of the protocol, and return the browser's answer."""
        self._number += 1
        request = {"id": self._number, "method": method, "params": parameters}
        _write(self._in, json.dumps(request | ({"sessionId": session} if session else {})).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            answer = self._next(method, until)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise PageError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def receive_events(self, seconds: float) -> None:
        """Receive events for a number of seconds."""
        until = time.monotonic() + seconds
        with suppress(TimeoutError):
            while True:
                self._next("an event", until)

    def close(self) -> None:
        with suppress(OSError, TimeoutError):
            self.send("Browser.close")
        _ended(self._process)
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self._folder, ignore_errors=True)

    def __exit__(self, *_: object) -> None:
        self.close()

    def _next(self, awaited: str, until: float) -> dict[str, Any]:
        """Receive the next message; an event is passed to its page."""
        while b"\0" not in self._heard:
            ready, _, _ = select.select([self._out], [], [], max(until - time.monotonic(), 0))
            if not ready:
                raise TimeoutError(f"the browser has not answered in time: {awaited}")
            more = os.read(self._out, 1 << 20)
            if not more:
                raise OSError(f"the browser has ended before it answered: {awaited}")
            self._heard += more
        message, _, self._heard = self._heard.partition(b"\0")
        data = json.loads(message)
        if "method" in data and data.get("sessionId") in self._events:
            self._events[data["sessionId"]]((data["method"], data["params"]))
        return data


class Page:
    """A page, with the `errors` and `requests` since it was opened."""

    def __init__(self, browser: Browser, session: str, width: int, height: int):
        self._browser, self._session = browser, session
        self._loads = 0
        self.errors: list[str] = []  # of the console, of scripts, of what could not be loaded
        self.requests: list[str] = []  # addresses, the page's own among them
        browser.listen(session, self._hear)
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.resize(width, height)

    def reset(self, width: int, height: int) -> None:
        """Go to an empty page of this size, and forget media, history, storage, errors and requests."""
        self.evaluate("{ try { sessionStorage.clear(); localStorage.clear() } catch {} }")  # if it has any
        self.emulate()
        self.resize(width, height)
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=0, y=0)
        self.open("about:blank")
        self.send("Page.resetNavigationHistory")
        self.errors.clear()
        self.requests.clear()

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """A command of the protocol for this page."""
        return self._browser.send(method, self._session, **parameters)

    def open(self, place: str | Path) -> None:
        """Go to an address or a file, and wait until it is loaded."""
        address = place.absolute().as_uri() if isinstance(place, Path) else place
        before = self._loads
        failed = self.send("Page.navigate", url=address).get("errorText")
        if failed:
            raise PageError(f"{address}: {failed}")
        until = time.monotonic() + PATIENCE
        while self._loads == before:
            if time.monotonic() > until:
                raise TimeoutError(f"{address} has not been loaded in time")
            self._browser.receive_events(0.02)

    def evaluate(self, script: str) -> Any:
        """The value of an expression, awaited if it is a promise, as JSON holds it."""
        options = {"returnByValue": True, "awaitPromise": True, "userGesture": True}
        answer = self.send("Runtime.evaluate", expression=script, **options)
        if "exceptionDetails" in answer:
            raise PageError(f"{script}: {_thrown(answer['exceptionDetails'])}")
        return answer["result"].get("value")

    def wait_for(self, script: str, seconds: float = 10) -> None:
        """Wait until an expression has a value that counts as true in JavaScript, as any element does."""
        until = time.monotonic() + seconds
        while not self._holds(script):
            if time.monotonic() > until:
                raise TimeoutError(f"did not become true in {seconds} s: {script}")
            self._browser.receive_events(0.02)

    def _holds(self, script: str) -> bool:
        try:
            return self.evaluate(f"Boolean({script})")
        except PageError as error:
            if LEFT in str(error):  # it is being reloaded
                return False
            raise

    def press(self, key: str, *modifiers: str) -> None:
        """Press and release a key: a letter, or a name such as Tab, Enter, ArrowLeft."""
        code, text = KEYS.get(key) or (ord(key.upper()), key)
        held = sum(MODIFIERS[name] for name in modifiers)
        about = {"key": key, "windowsVirtualKeyCode": code, "modifiers": held}
        typed = {} if held & ~MODIFIERS["Shift"] else {"text": text}
        self.send("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **about, **typed)
        self.send("Input.dispatchKeyEvent", type="keyUp", **about)

    def type(self, text: str) -> None:
        """Put text where the focus is."""
        self.send("Input.insertText", text=text)

    def hover(self, selector: str) -> None:
        """Move the pointer onto the middle of the first element that the selector finds."""
        x, y = self._middle(selector)
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector: str) -> None:
        x, y = self._middle(selector)
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def resize(self, width: int, height: int, scale: float = 1) -> None:
        """The size of the window inside, in CSS pixels, and how many real ones make one of them."""
        size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
        self.send("Emulation.setDeviceMetricsOverride", **size)

    def emulate(self, media: str = "", **features: str) -> None:
        """Emulate another medium, such as `print`, or media features: `prefers_color_scheme="dark"`."""
        wished = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.send("Emulation.setEmulatedMedia", media=media, features=wished)

    def screenshot(self, path: Path, whole: bool = False) -> None:
        """Return a PNG of the visible part, or of the whole page."""
        data = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def printed(self) -> bytes:
        """The first sheet as it comes out of a printer, a PDF."""
        options = {"printBackground": True, "pageRanges": "1"}  # all are laid out; writing them takes long
        return base64.b64decode(self.send("Page.printToPDF", **options)["data"])

    def _middle(self, selector: str) -> tuple[float, float]:
        """Return the middle of an element once it is visible and does not move any more."""
        found = self.evaluate(
            f"(async () => {{ const found = document.querySelector({json.dumps(selector)});"
            "if (!found) return null;"
            "const frame = () => new Promise(requestAnimationFrame);"
            "for (let before;;) {"
            "  found.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});"
            "  await frame(); await frame();"
            "  const box = found.getBoundingClientRect();"
            "  const middle = [box.x + box.width / 2, box.y + box.height / 2];"
            "  if (String(middle) === before) return middle;"
            "  before = String(middle); } })()"
        )
        if found is None:
            raise PageError(f"there is no {selector}")
        return found[0], found[1]

    def _hear(self, event: Event) -> None:
        match event:
            case "Page.loadEventFired", _:
                self._loads += 1
            case "Runtime.exceptionThrown", {"exceptionDetails": details}:
                self.errors.append(_thrown(details))
            case "Runtime.consoleAPICalled", {"type": "error" | "assert", "args": arguments}:
                self.errors.append(
                    " ".join(str(one.get("value", one.get("description"))) for one in arguments)
                )
            case "Log.entryAdded", {"entry": {"level": "error", "text": text} as entry}:
                self.errors.append(f"{text} {entry.get('url', '')}".strip())
            case "Network.requestWillBeSent", {"request": {"url": url}}:
                self.requests.append(url)


def _thrown(details: dict[str, Any]) -> str:
    return details.get("exception", {}).get("description") or details["text"]


def _started(command: list[str]) -> tuple[int, int, int]:
    """The process, where to write to it, where to read from it."""
    (theirs_in, ours_in), (ours_out, theirs_out) = (map(_moved_up, os.pipe()) for _ in range(2))
    actions = [
        (os.POSIX_SPAWN_DUP2, theirs_in, 3),
        (os.POSIX_SPAWN_DUP2, theirs_out, 4),
        *((os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)),
    ]
    # Not a fork, which would copy a process that may run threads.
    process = os.posix_spawn(command[0], command, os.environ, file_actions=actions, setpgroup=0)
    os.close(theirs_in)
    os.close(theirs_out)
    return process, ours_in, ours_out


def _moved_up(end: int) -> int:
    moved = fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, HIGH)
    os.close(end)
    return moved


def _write(pipe: int, message: bytes) -> None:
    while message:
        message = message[os.write(pipe, message) :]


def _ended(process: int) -> None:
    """Wait until the browser has ended; if it will not by itself, its group is killed."""
    until = time.monotonic() + PATIENCE / 3
    while time.monotonic() < until:
        if os.waitpid(process, os.WNOHANG)[0]:
            return
        time.sleep(0.02)
    os.killpg(process, signal.SIGKILL)
    os.waitpid(process, 0)
