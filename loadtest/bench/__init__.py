"""Locks side by side: every way to lock sells one item, contended by P processes × T threads.

Its own Valkey in a temporary folder, worker processes that live through all cells, and figures
that mean something as ratios inside one run only. A row is one lock in the table (see `rows`).
"""

from app.domain import ShopError


class BenchFailed(ShopError):
    """The run could not be finished; the text says which part of it failed, and how."""
