"""What a browser gets: one page, its style and its script, which ask for nothing but this server."""

from fastapi import FastAPI, Response

from otalign.render.assets import asset

HERE = "otalign.server"


def serve_in(app: FastAPI) -> None:
    """The page on `/`. It names its parts from where it is, so that it may stand behind any address."""
    style = asset("linked.css") + asset("page.css", package=HERE)
    script = asset("linked.js") + asset("views.js", "page.js", package=HERE)
    parts = {
        "/": (asset("page.html", package=HERE), "text/html"),
        "/page.css": (style, "text/css"),
        "/page.js": (script, "text/javascript"),
    }
    for place, (text, kind) in parts.items():
        app.add_api_route(place, _serve_text(text, kind), methods=["GET", "HEAD"], include_in_schema=False)


def _serve_text(text: str, kind: str):
    async def part() -> Response:
        return Response(text, media_type=kind)

    return part
