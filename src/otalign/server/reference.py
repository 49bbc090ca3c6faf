"""The page `/docs`: how to read the page, and the API, written from its OpenAPI schema.

It needs no script and loads nothing from other servers.
"""

import json
from collections.abc import Iterator, Mapping
from html import escape
from string import Template
from typing import Any

from fastapi import FastAPI, Response

from otalign.render.assets import asset
from otalign.server.errors import MEDIA_TYPE

EXAMPLES = {
    "/v1/align": "curl -s ADDRESS/v1/align -H 'content-type: application/json' \\\n"
    '  -d \'{"source": "It rains.", "target": "It is raining."}\'',
}
Schema = Mapping[str, Any]


def add_reference(app: FastAPI) -> None:
    """Serve the page on `/docs`."""

    async def respond() -> Response:
        return Response(write_reference(app.openapi()), media_type="text/html")

    app.add_api_route("/docs", respond, methods=["GET", "HEAD"], include_in_schema=False)


def write_reference(schema: Schema) -> str:
    """Write the page of an OpenAPI schema."""
    content = "\n".join([*_write_paths(schema), *_write_types(schema)])
    return Template(asset("reference.html", package="otalign.server")).substitute(
        version=escape(schema["info"]["version"]), content=content
    )


def _write_paths(schema: Schema) -> Iterator[str]:
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            title = f"{method.upper()} {path}"
            example = EXAMPLES.get(path, f"curl -s ADDRESS{path}")
            yield f'<section id="{escape(_make_anchor(title))}"><h3><code>{escape(title)}</code></h3>'
            yield f"<p>{_format_code(operation.get('description', ''))}</p>"
            yield f"<pre>{escape(example)}</pre>"
            if "requestBody" in operation:
                yield f"<p>Body: {_describe_content(operation['requestBody'])}</p>"
            for status, response in operation["responses"].items():
                name = "Other statuses" if status == "default" else f"Status {status}"
                yield f"<p>{name}: {_describe_content(response) or 'text'}</p>"
            yield "</section>"


def _describe_content(part: Schema) -> str:
    content = part.get("content", {})
    chosen = {MEDIA_TYPE: content[MEDIA_TYPE]} if MEDIA_TYPE in content else content
    return "; ".join(
        f"{_describe_type(entry.get('schema', {}))} (<code>{escape(media)}</code>)"
        for media, entry in chosen.items()
    )


def _write_types(schema: Schema) -> Iterator[str]:
    yield '<h2 id="types">Types</h2>'
    for name, one in sorted(schema["components"]["schemas"].items()):
        yield f'<section id="{_make_anchor(name)}"><h3>{escape(name)}</h3>'
        yield f"<p>{_format_code(one.get('description', ''))}</p>"
        if one.get("properties"):
            rows = "".join(_write_field(key, field, one) for key, field in one["properties"].items())
            head = "".join(f'<th scope="col">{title}</th>' for title in ("Field", "Type", "Meaning"))
            yield f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        yield "</section>"


def _write_field(name: str, field: Schema, parent: Schema) -> str:
    required = "" if name in parent.get("required", ()) else " (optional)"
    cells = (
        f"<code>{escape(name)}</code>{required}",
        _describe_type(field),
        _format_code(field.get("description", "")),
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _describe_type(one: Schema) -> str:
    """Describe a type in HTML, with links to those that have a name."""
    if "$ref" in one:
        name = one["$ref"].rpartition("/")[2]
        return f'<a href="#{_make_anchor(name)}">{escape(name)}</a>'
    for key in ("anyOf", "oneOf"):
        if key in one:
            return " or ".join(_describe_type(part) for part in one[key] if part.get("type") != "null")
    if "const" in one or "enum" in one:
        values = one.get("enum", [one.get("const")])
        return " or ".join(f"<code>{escape(json.dumps(value))}</code>" for value in values)
    if one.get("type") == "array":
        items = one.get("prefixItems") or [one.get("items", {})]
        return f"list of {', '.join(map(_describe_type, items))}{_describe_range(one)}"
    if one.get("type") == "object":
        more = one.get("additionalProperties")
        return f"object of {_describe_type(more)}" if isinstance(more, Mapping) and more else "object"
    return escape(one.get("type", "any")) + _describe_range(one)


def _describe_range(one: Schema) -> str:
    least, most = one.get("minimum"), one.get("maximum")
    if least is not None or most is not None:
        return f", {least} to {most}"
    for key, unit in (("maxLength", "characters"), ("maxItems", "items")):
        if key in one and not one.get("prefixItems"):
            return f", at most {one[key]:,} {unit}"
    return ""


def _format_code(text: str) -> str:
    """Return text as HTML, with code between backticks."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if k % 2 else part for k, part in enumerate(parts))


def _make_anchor(title: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in title).strip("-").lower()
