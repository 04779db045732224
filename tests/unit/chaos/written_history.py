"""A history by hand. Times are ms; each press has a number, and usually an answer."""

from __future__ import annotations

from typing import Self

from loadtest.chaos.history import (
    Action,
    Book,
    BookEntry,
    Event,
    InjectedFault,
    Kind,
    Part,
    Reply,
    Request,
    Response,
    RoundAudit,
    RoundEnded,
    RoundStarted,
    RunStarted,
)

MS = 1_000_000


class Tale:
    """One round of apples, from 0 until `ends`; its ledger has the given orders."""

    def __init__(
        self,
        stock: int,
        *,
        hold: int | None = None,
        limit: int | None = None,
        mode: str = "atomic",
        ends: int = 10_000,
        late: int | None = None,
        durability: str = "safe",
        price: int | None = None,
        delay: int = 0,
    ) -> None:
        self.stock = stock
        self.ends = ends
        self.units: dict[str, int] = {}
        self.sold = 0
        self.events: list[Event] = [
            RunStarted(1, 1.0, durability, "sqlite", late * MS if late else None),
            RoundStarted(0, 1, "apple", 1, stock, mode, hold, limit, price, delay),
            RoundEnded(ends * MS, "apple", 1, (ends + 1) * MS),
        ]

    def told(
        self,
        key: str,
        since: int,
        until: int | None,
        answer: Reply = Reply.UNKNOWN,
        left: int | None = None,
        *,
        deed: Action = Action.BUY,
        units: int = 1,
        order: str = "",
        buyer: str = "",
        cookie: str = "",
        cents: int | None = None,
        deadline: int | None = None,
    ) -> Self:
        """Add a press and its answer; `until` None: never answered.

        `cents` and the `deadline`, a ms of this history, are told in the answer.
        """
        op = len(self.events)
        who = buyer or key
        asked = units if deed is Action.BUY else 0
        self.units[key] = units if deed is Action.BUY else self.units.get(key, 1)
        self.events.append(
            Request(op, since * MS, deed, who, "apple", key, asked, 1, cookie=cookie)
        )
        if until is not None:
            id = order or f"o-{key}" if answer in (Reply.SOLD, Reply.HELD) else None
            due = (None, None) if deadline is None else (deadline, deadline - until)
            self.events.append(Response(op, until * MS, answer, 1, id, left, "", cents, *due))
        return self

    def pay(self, key: str, since: int, until: int, answer: Reply = Reply.SOLD) -> Self:
        return self.told(key, since, until, answer, deed=Action.PAY)

    def cancel(self, key: str, since: int, until: int, answer: Reply = Reply.GIVEN_BACK) -> Self:
        return self.told(key, since, until, answer, deed=Action.CANCEL)

    def booked(
        self,
        *keys: str,
        id: str = "",
        where: tuple[Book, ...] = tuple(Book),
        buyer: str | None = None,
        price: int | None = None,
    ) -> Self:
        for key in keys:
            units = self.units.get(key, 1)
            self.sold += units
            for book in where:
                who = key if buyer is None else buyer
                order = id or f"o-{key}"
                self.events.append(BookEntry(book, order, "apple", 1, units, key, who, price))
        return self

    def broken(self, kind: Kind, where: Part, since: int, until: int) -> Self:
        self.events.append(InjectedFault(kind, where, since * MS, until * MS))
        return self

    def looked(
        self, since: int, until: int, left: int, held: int, sold: int, said: str = "settling"
    ) -> Self:
        """Add an audit while buyers buy; the harness has read the same."""
        figures = (left, held, sold, said != "settling", said, left, held)
        audit = RoundAudit(until * MS, "apple", 1, self.stock, *figures, called=since * MS)
        self.events.append(audit)
        return self

    def audited(
        self,
        left: int,
        held: int = 0,
        sold: int | None = None,
        settled: bool = True,
        said: str = "",
        after: int = 100,
        found: tuple[int, int] | None = None,
        marked: bool = False,
        mended: bool = False,
    ) -> list[Event]:
        """Add the audit, `after` ms after the round's end; return all events.

        `found`: units left and held, as they are in the store.
        """
        sold = self.sold if sold is None else sold
        at = (self.ends + after) * MS
        seen = (*(found or (None, None)), marked, None, mended)
        audit = RoundAudit(at, "apple", 1, self.stock, left, held, sold, settled, said, *seen)
        return [*self.events, audit]
