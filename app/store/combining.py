"""Threads of a process that want the same item at the same moment are sold to together.

Flat combining, as databases group their commits: each thread stands in line with its order. If
nobody leads, it does: it sells to all that stand there, in one go, tells each, and the first of
those who came meanwhile leads next. So nobody serves the others more than once, and who comes first
is sold to first. Nobody waits for company: alone in line, a thread sells as it would without.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence

from app.domain import Order, RoundLeft, Sale, StoreAway
from app.store.batch import Answered

MOST = 64  # orders of one go: what one script or one MULTI does holds up everybody else
CHECK_S = 1.0  # between two looks of who waits, whether the one that sells to it is still there
INTERRUPTED = "The thread that sold for several was interrupted: it may have sold, or not."

Told = Sale | BaseException


class Entry:
    """A thread in line, with its order."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.told: Told | None = None
        self.seller: Entry | None = None  # who has taken it out of the line, to sell to it
        # Locked while the thread is in `sell`. A `with` unlocks it however the thread leaves:
        # between that and the next line there is no room for an interrupt.
        self.here = threading.Lock()
        self._bell = threading.Lock()
        self._bell.acquire()

    def ring(self) -> None:
        if self._bell.locked():
            self._bell.release()

    def wait(self) -> None:
        self._bell.acquire(timeout=CHECK_S)


class Combining:
    """One line: of the threads that a process has in one round."""

    def __init__(
        self, sell: Callable[[Order], Sale], sell_all: Callable[[Sequence[Order]], list[Answered]]
    ) -> None:
        """As a mode has them (see SellsAll)."""
        self.sell_one = sell
        self.sell_all = sell_all
        self.mutex = threading.Lock()  # of all below, and of the entries; not held while selling
        self.line: deque[Entry] = deque()
        self.leader: Entry | None = None

    def sell(self, order: Order) -> Sale:
        """As the mode's. Also raises StoreAway, when the thread that sold for this one was
        interrupted, or met with an error: whether it has sold is then unknown.
        """
        me = Entry(order)
        with me.here:
            with self.mutex:
                self.line.append(me)
            while me.told is None:
                if self._leads(me):
                    self._lead(me)
                elif me.told is None:
                    me.wait()
        if isinstance(me.told, BaseException):
            raise me.told
        return me.told

    def _leads(self, me: Entry) -> bool:
        """Is it for this thread to sell? Also when the one that led was interrupted.

        If that one had taken its order, it is told so instead.
        """
        with self.mutex:
            if me.told is None and me.seller and not me.seller.here.locked():
                me.told = StoreAway(INTERRUPTED)
            if me.seller:
                return False
            if self.leader is None or not self.leader.here.locked():
                self.leader = me
            return self.leader is me

    def _lead(self, me: Entry) -> None:
        """Sell to those in line, and hand the lead on."""
        with self.mutex:
            here = [each for each in self.line if each.here.locked()]  # the others have gone
            batch = here[:MOST]
            for each in batch:
                each.seller = me
            self.line = deque(here[MOST:])  # at last: who stands in it is not sold to
        told: Sequence[Told] = [StoreAway(INTERRUPTED) for _ in batch]
        try:
            told = self._sold([each.order for each in batch])
        except Exception as error:  # noqa: BLE001  raised in the thread of each
            told = [error if each is me else _in_doubt(error) for each in batch]
        finally:
            with self.mutex:
                for each, one in zip(batch, told, strict=True):
                    each.told = one
                self.leader = next((each for each in self.line if each.here.locked()), None)
                if self.leader:
                    self.leader.ring()
                for each in batch:
                    each.ring()

    def _sold(self, orders: list[Order]) -> Sequence[Told]:
        return self.sell_all(orders) if len(orders) > 1 else [self.sell_one(orders[0])]


def _in_doubt(error: Exception) -> Exception:
    """What one is told who was sold to with others. Each has an error of its own, as each is told
    the key to ask again with."""
    if isinstance(error, RoundLeft):
        return RoundLeft()
    return StoreAway(f"The store does not answer: {error}")
