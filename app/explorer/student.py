"""The user's own way to sell: a file with `sell(redis, buyer)`."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import CodeType
from typing import Any

from badluck.actor.actor import Actor
from badluck.actor.user_code_error import UserCodeError
from badluck.model.values import Command, Entry
from badluck.sandbox.user_code import LOAD_LOCK_SCRIPTS
from badluck.sandbox.user_file import UserFile
from badluck.target import Shown, StoredLock

from app.explorer.book import COLUMNS, Book, Sold, shelf
from app.explorer.findings import NOTHING, OWN_RULES
from app.explorer.servers import GateServers
from app.explorer.vocabulary import OWN_WORDS, VOCABULARY

STOCK, ORDERS, LOCK = b"stock", b"orders", b"lock"
ANSWERS = {True: "SOLD", False: "SOLD_OUT", None: "BUSY", ...: NOTHING}
IN_WORDS = "True (sold), False (sold out) or None (gave up)"
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
RECORD = 'record a sale by redis.rpush("orders", buyer)'


@dataclass(frozen=True)
class Student(UserFile):
    """A file and the round in which it sells. Each buyer wants one unit."""

    function = "sell"
    parameters = ("redis", "buyer")
    words = OWN_WORDS
    expected = (ORDERS,)
    vocabulary = VOCABULARY
    harness = ("app.explorer.",)
    rules = OWN_RULES
    columns = COLUMNS
    gave_up = ANSWERS[None]
    quantity = 1

    path: Path
    stock: int = 1
    resend: bool = False  # as redis-py does by default

    @property
    def setting(self) -> str:
        return shelf(self.stock)

    def terms(self) -> dict[str, int | str]:
        retries: int | str = "default" if self.resend else 0
        return {"stock": self.stock, "quantity": self.quantity, "think_ms": 0, "retries": retries}

    def setup(self) -> list[list[Command]]:
        return [[*LOAD_LOCK_SCRIPTS, (b"SET", STOCK, b"%d" % self.stock)]]

    def filled_up(self, entries: dict[bytes, Entry]) -> dict[bytes, Entry]:
        others = {key: entry for key, entry in entries.items() if key not in (STOCK, ORDERS)}
        return others | {STOCK: Entry(b"%d" % self.stock, None)}

    @cached_property
    def _code(self) -> CodeType:
        """Compile the file; its sell() returns `...` where it ends without a return."""
        tree = ast.parse(self.source, str(self.path))
        for part in tree.body:
            if isinstance(part, FUNCTION) and part.name == self.function and not _yields(part):
                end = ast.Return(ast.Constant(...))
                part.body.append(ast.copy_location(end, part.body[-1]))
        ast.fix_missing_locations(tree)
        code: CodeType = compile(tree, str(self.path), "exec", dont_inherit=True)
        return code

    def order(self, buyer: str) -> Sold:
        return Sold(buyer, 1)

    def arguments(self, buyer: Actor) -> tuple[Any, ...]:
        return GateServers(self.resend).store, buyer.name

    def outcome(self, said: object) -> str:
        if said is True or said is False or said is None or said is ...:
            return ANSWERS[said]
        raise ValueError(f"it answers {said!r:.60}, and not {IN_WORDS}")

    def book(self, entries: dict[bytes, Entry], *_: dict[bytes, Entry]) -> Book:
        """Read the store. Raises UserCodeError when stock or orders have the wrong form."""
        stock, orders = entries.get(STOCK), entries.get(ORDERS)
        value: Any = stock.value if stock else b"0"
        if not isinstance(value, bytes) or not value.removeprefix(b"-").isdigit():
            raise UserCodeError(
                f"{self.name}: the key stock must hold a whole number, not {value!r:.60}"
            )
        sales: Any = orders.value if orders else ()
        if type(sales) is not tuple:
            raise UserCodeError(f"{self.name}: orders must be a list: " + RECORD)
        for sale in sales:
            if sale not in (b"A", b"B", b"C", b"D"):
                raise UserCodeError(
                    f"{self.name}: in orders stands {sale!r:.60}, who is no buyer: {RECORD}"
                )
        locks = sorted(
            key
            for key, entry in entries.items()
            if LOCK in key.lower() and isinstance(entry.value, bytes)
        )
        held: Any = entries[locks[0]].value if locks else None
        # For display only: faults of a lock are found by the commands on it.
        lock = StoredLock(held, ends=True) if held is not None else None
        return Book(int(value), tuple(Sold(sale.decode(), 1) for sale in sales), lock)

    def shown(self, book: Book) -> Shown:
        return book.shown()


def _yields(function: ast.AST) -> bool:
    """Return whether the function is a generator: an `async` one may return no value."""
    return any(isinstance(part, ast.Yield | ast.YieldFrom) for part in ast.walk(function))
