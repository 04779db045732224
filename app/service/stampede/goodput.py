"""Sales a second whose unit was there: a customer who will be disappointed is none. No I/O."""

from __future__ import annotations

from collections import deque

WINDOW = 2  # samples, one second: as the buyers count their sales (loadtest/feed.py)


class Goodput:
    """Of the last second, sample by sample. `stock` is units, `sold` units so far."""

    def __init__(self, stock: int) -> None:
        self.stock = stock
        self.seen: deque[tuple[float, int]] = deque([(0.0, 0)], maxlen=WINDOW + 1)

    def now(self, at: float, sold: int) -> float | None:
        """`at` is seconds since the first buyer came; None before that."""
        self.seen.append((at, min(sold, self.stock)))
        (before, had), (_, has) = self.seen[0], self.seen[-1]
        return round((has - had) / (at - before), 1) if at > before else None


def whole(sales: float | None, sold: int, stock: int) -> float | None:
    """Of a whole run, of its `sales` a second; None: nothing was sold."""
    return round(sales * min(sold, stock) / sold, 1) if sales and sold else None
