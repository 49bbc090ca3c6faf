"""The page for browsers, with its style and script; it loads nothing from other servers."""

from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Response

from otalign.render.assets import DRAWING_SCRIPTS, asset

PACKAGE = "otalign.server"
SCRIPTS = (
    *("problems.js", "requests.js", "answers.js", "matrix.js", "picture.js", "copying.js", "settings.js"),
    *("view.js", "many.js", "page.js"),
)


def add_page(app: FastAPI) -> None:
    """Serve the page on `/`. Its links are relative, so that it works under any address."""
    style = asset("linked.css") + asset("page.css", package=PACKAGE)
    script = asset(*DRAWING_SCRIPTS) + asset(*SCRIPTS, package=PACKAGE)
    parts = {
        "/": (asset("page.html", package=PACKAGE), "text/html"),
        "/page.css": (style, "text/css"),
        "/page.js": (script, "text/javascript"),
    }
    for path, (text, media_type) in parts.items():
        app.add_api_route(
            path, _serve_text(text, media_type), methods=["GET", "HEAD"], include_in_schema=False
        )


def _serve_text(text: str, media_type: str) -> Callable[[], Awaitable[Response]]:
    async def respond() -> Response:
        return Response(text, media_type=media_type)

    return respond
