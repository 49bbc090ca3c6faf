"""Rendering of alignments and differences: in the terminal, as HTML pages, as pictures.

`terminal` and `matrix` draw with rich, `report` writes an HTML page of many pairs, `svg` a standalone
picture, `picture` figures of matplotlib, and `notebook` the output of a notebook cell. `changes` and
`changes_page` render a difference. Nothing here prints, and no information is in colour alone.
"""
