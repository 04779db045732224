"""A page for each mode and recipe: source, timelines, matrix, measured cost, tutorials.

source.py       the files of a mode or recipe, and the part of `lock` that a recipe guards
highlight.py    a file's text in pieces, each with its kind
compared.py     two files side by side
drawings.py     the drawings on a page of docs/, and their words
timelines.py    the drawings of a mode or recipe
matrix_rows.py  its rows of the matrix (docs/matrix.md)
measured.py     its figures from `lastapple compare` on this machine
"""

from app.lab.sources.page import Comparison, Page, compare, page, ways

__all__ = ["Comparison", "Page", "compare", "page", "ways"]
