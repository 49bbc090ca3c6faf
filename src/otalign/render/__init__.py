"""Alignments for people to look at: in the terminal, as pages, as pictures.

`terminal` and `matrix` draw with rich, `report` writes a page of many pairs, `svg` a picture by itself and
`picture` figures by matplotlib, `notebook` says what a cell shows. Nothing here prints. Each says all it has
to say without colour too.
"""
