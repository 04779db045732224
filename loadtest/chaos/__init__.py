"""lastapple chaos: inject faults of all kinds while buyers buy, and judge the answers they got.

The harness knows the running shop by HTTP only; the judge knows only the history that it wrote.
"""

from app.domain import ShopError


class ChaosFailed(ShopError):
    """The run could not be made; the text says which part of it failed, and how."""
