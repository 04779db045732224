"""A page for each mode and recipe: source, timelines, matrix, measured cost, tutorials.

source.py     which files make it, and what of `lock` its lock guards
highlight.py  a file's text in pieces, each with what it is
compared.py   two files side by side
drawings.py   what is drawn on a page of docs/, and its words
timelines.py  which of it is drawn of a mode or recipe
matrix_rows.py its rows of the matrix (docs/matrix.md)
measured.py   what `lastapple compare` measured of it on this machine
"""

from app.lab.sources.page import Comparison, Page, compare, page, ways

__all__ = ["Comparison", "Page", "compare", "page", "ways"]
