"""Alignments for people to look at: `terminal` and `matrix` draw with rich, `svg` writes a picture.

Nothing here prints. Each says all it has to say without colour too.
"""
