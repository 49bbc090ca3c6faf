"""The parts that pages are put together of: files of the package, each shared by the pages that need it."""

from importlib import resources


def asset(*names: str, package: str = "otalign.render") -> str:
    """The text of the files, one after the other. Scripts put together so are one module: none exports."""
    return "\n".join((resources.files(package) / name).read_text(encoding="utf-8") for name in names)
