"""The settings of the documentation site: `make docs` builds it with Sphinx into docs/_build/html.

Pages are Markdown (MyST). The site fetches nothing when it is built or viewed: the theme has its own style
and scripts, and formulas become MathML (`_ext/mathml.py`).
"""

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.ext.autodoc.mock import _MockObject, mock

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT / "_ext"))

from otalign import __version__  # noqa: E402 (after the path of the extensions)

project = "otalign"
author = "the otalign developers"
version = release = __version__
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "command_line",
    "mathml",
]
exclude_patterns = ["_build", "_ext"]
nitpicky = False

# Pages
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "attrs_inline"]
myst_heading_anchors = 4
myst_links_external_new_tab = False
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
copybutton_exclude = ".linenos, .gp, .go"
highlight_language = "text"

# The API reference. Libraries that only some commands need are mocked, so that the site builds without them.
default_role = "code"
autodoc_mock_imports = ["accelerate", "fastapi", "matplotlib", "onnx", "onnxscript", "ot", "pyarrow"]
autodoc_mock_imports += ["pydantic", "ray", "spacy", "torch", "transformers", "uvicorn"]
for operator in ("__or__", "__ror__"):  # a mocked type may be in `Tensor | None`
    setattr(_MockObject, operator, lambda self, other: Any)
autodoc_default_options = {"members": True, "member-order": "groupwise", "no-value": True}
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
napoleon_numpy_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
toc_object_entries_show_parents = "hide"
PUBLIC_MODULES = [path.stem for path in sorted((ROOT / "api").glob("otalign*.md"))]

# The site
html_theme = "furo"
html_title = "otalign"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
html_math_renderer = "mathml"
pygments_style = "friendly"
pygments_dark_style = "github-dark"


def load_lazy_names(app: Sphinx, config: object) -> None:
    """Load the public names of each module into it, since autodoc sees only names that are loaded."""
    with mock(autodoc_mock_imports):
        for name in PUBLIC_MODULES:
            module = import_module(name)
            for public in getattr(module, "__all__", ()):
                setattr(module, public, getattr(module, public))


def skip_members(app: Sphinx, what: str, name: str, item: object, *ignored: object) -> Any:
    """Leave out fields of named tuples, which the signature lists, and names that have a page elsewhere.

    `otalign` offers the problems of `otalign.ot` too, and these are described there.
    """
    if (getattr(item, "__doc__", None) or "").startswith("Alias for field number"):
        return True
    if what != "module" or app.env.docname != "api/otalign":
        return None
    home = getattr(item, "__module__", None) or ""
    others = [module for module in PUBLIC_MODULES if module != "otalign"]
    return True if any(home.startswith(f"{module}.") for module in others) else None


def convert_markdown(*event: Any) -> None:
    """Turn the Markdown of docstrings into reStructuredText: `code`, and indented blocks of code."""
    lines: list[str] = event[-1]
    text = re.sub(r"(?<!`)`([^`]+)`(?!`)(?=(\w)?)", _literal, "\n".join(lines))
    converted: list[str] = []
    for line in text.split("\n"):
        above = next((earlier for earlier in reversed(converted) if earlier.strip()), "")
        begins_block = len(line) - len(line.lstrip()) > len(above) - len(above.lstrip())
        if above and line.strip() and begins_block and not converted[-1].strip() and not _opens_block(above):
            converted += ["::", ""]
        converted.append(line)
    lines[:] = converted


def _literal(match: re.Match[str]) -> str:
    inside = re.sub(r"\s+", " ", match[1])
    return f"``{inside}``" + ("\\ " if match[2] else "")


def _opens_block(line: str) -> bool:
    return line.rstrip().endswith("::") or line.lstrip().startswith((".. ", ">>> ", "- ", "* "))


def setup(app: Sphinx) -> None:
    app.connect("config-inited", load_lazy_names)
    app.connect("autodoc-skip-member", skip_members)
    app.connect("autodoc-process-docstring", convert_markdown, priority=400)  # before napoleon
