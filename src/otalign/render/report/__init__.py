"""Reports: alignments of one or several systems as an HTML page, beside gold."""

from otalign.render.report.page import report

__all__ = ["report"]
