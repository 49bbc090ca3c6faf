"""The style sheets, scripts and templates of HTML pages, which are files of the package."""

from importlib import resources

# The drawing of an alignment, for every page.
DRAWING_SCRIPTS = ("layout.js", "strokes.js", "linked.js", "light.js")


def asset(*names: str, package: str = "otalign.render") -> str:
    """Return the concatenated text of files. Concatenated scripts form one module, so none has exports."""
    return "\n".join((resources.files(package) / name).read_text(encoding="utf-8") for name in names)
