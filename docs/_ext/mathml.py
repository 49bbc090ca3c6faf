"""Formulas as MathML, which browsers draw themselves: no script, no font and no network."""

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)


def visit_inline(writer, node: nodes.math) -> None:
    writer.body.append(_convert(node, as_block=False))
    raise nodes.SkipNode


def visit_block(writer, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math">{_convert(node, as_block=True)}</div>')
    raise nodes.SkipNode


def _convert(node: nodes.Element, as_block: bool) -> str:
    try:
        return tex2mathml(node.astext(), as_block=as_block)
    except MathError as error:
        logger.warning("cannot convert the formula %s: %s", node.astext(), error, location=node)
        return ""


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
