"""Locks side by side: every lock guards the same sale, contended by P processes × T threads.

The bench has its own Valkey in a temporary folder, and worker processes that live through all
cells. Figures mean something only as ratios inside one run. A row is one lock in the table (see
`rows`).
"""

from app.domain import ShopError


class BenchFailed(ShopError):
    """The run could not be finished; the text says which part of it failed, and how."""
