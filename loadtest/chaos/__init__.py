"""lastapple chaos: break all that can break while buyers buy, and judge what they were told.

The harness knows the running shop by HTTP only; the judge knows only the history it wrote.
"""

from app.domain import ShopError


class ChaosFailed(ShopError):
    """The run could not be made; the text says which part of it failed, and how."""
