"""Somebody's own way of selling: a file with `sell(redis, buyer)`.

Each buyer is a process of its own: the file is run anew for each, and no variable of it is shared.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from greenlet import GreenletExit
from redis.backoff import NoBackoff
from redis.retry import Retry

from app.explorer import process, words, wrong
from app.explorer.buyer import Buyer
from app.explorer.model.server import Server
from app.explorer.model.values import Command, Entry
from app.explorer.targets import Book, GateServers, Sold, told
from app.explorer.wrong import Wrong
from app.store.redis import NEVER_RESEND

STOCK, ORDERS, LOCK = b"stock", b"orders", b"lock"
ANSWERS = {True: "SOLD", False: "SOLD_OUT", None: "BUSY"}
IN_WORDS = "True (sold), False (sold out) or None (gave up)"


@dataclass(frozen=True)
class Student:
    """A file and the round in which it is to sell. Each buyer wants one unit."""

    path: Path
    stock: int = 1
    resend: bool = False  # as redis-py does by default
    quantity: int = field(default=1, init=False)
    think: int = field(default=0, init=False)
    pause: int = field(default=600_000, init=False)  # ms: longer than a lease in any tutorial
    locks: bool = field(default=False, init=False)
    alike: bool = field(default=False, init=False)  # nobody knows what it does with a name
    frugal: bool = field(default=False, init=False)
    lock_key: bytes | None = field(default=None, init=False)

    @property
    def name(self) -> str:
        return self.path.name

    @cached_property
    def source(self) -> bytes:
        return self.path.read_bytes()

    def identity(self) -> dict[str, Any]:
        digest = hashlib.sha256(self.source).hexdigest()
        return {"target": self.name, "file": str(self.path), "sha256": digest}

    def surroundings(self) -> AbstractContextManager[None]:
        return process.of_its_own()

    def setup(self) -> list[list[Command]]:
        """redis-py's lock finds its scripts there, as it does from the second purchase on."""
        texts = words.redis_lock_scripts().values()
        load: list[Command] = [(b"SCRIPT", b"LOAD", text.encode()) for text in texts]
        return [[*load, (b"SET", STOCK, b"%d" % self.stock)]]

    def servers(self) -> list[Server]:
        return told(self.setup())

    def filled_up(self, entries: dict[bytes, Entry]) -> dict[bytes, Entry]:
        kept = {key: entry for key, entry in entries.items() if key not in (STOCK, ORDERS)}
        return kept | {STOCK: Entry(b"%d" % self.stock, None)}

    def order(self, buyer: str) -> Sold:
        return Sold(buyer, 1)

    def work(self, buyer: Buyer) -> str:
        """Raises Wrong for what is wrong with the code, whatever it is."""
        try:
            sell = self._sell(buyer)
            client = GateServers(Retry(NoBackoff(), 10) if self.resend else NEVER_RESEND).store
            return self._outcome(sell(client, buyer.name), sell)
        except (GreenletExit, Wrong, *wrong.EXPECTED):
            raise
        except BaseException as error:
            if buyer.over:
                raise GreenletExit from None  # on its way out it meets with all sorts of errors
            raise wrong.raised(error, self.path, buyer) from error

    @cached_property
    def _code(self) -> CodeType:
        code: CodeType = compile(self.source, str(self.path), "exec", dont_inherit=True)
        return code

    def _sell(self, buyer: Buyer) -> Callable[[Any, str], object]:
        module = ModuleType(f"students_{self.path.stem}")
        module.__file__ = str(self.path)
        sys.modules[module.__name__] = module  # dataclasses look for themselves there
        buyer.memory = module.__dict__
        exec(self._code, module.__dict__)  # noqa: S102  this is what we are here for
        sell: Any = module.__dict__.get("sell")
        if not callable(sell):
            raise Wrong(f"{self.name} has no function sell(redis, buyer)")
        try:
            inspect.signature(sell).bind("redis", "buyer")
        except TypeError as error:
            said = f"it cannot be called as sell(redis, buyer): {error}"
            raise Wrong(self._at(sell, said)) from error
        if inspect.iscoroutinefunction(sell) or inspect.isgeneratorfunction(sell):
            raise Wrong(self._at(sell, "it must be a plain function, without async and yield"))
        found: Callable[[Any, str], object] = sell
        return found

    def _outcome(self, said: object, sell: Callable[..., object]) -> str:
        if said is True or said is False or said is None:
            return ANSWERS[said]
        raise Wrong(self._at(sell, f"it answers {said!r:.60}, and not {IN_WORDS}"))

    def _at(self, sell: Callable[..., object], text: str) -> str:
        code = getattr(sell, "__code__", None)
        return wrong.at(self.path, code.co_firstlineno if code else 1, "sell", text)

    def book(self, entries: dict[bytes, Entry]) -> Book:
        """Raises Wrong when stock or orders are not what they should be."""
        stock, orders = entries.get(STOCK), entries.get(ORDERS)
        value: Any = stock.value if stock else b"0"
        if not isinstance(value, bytes) or not value.removeprefix(b"-").isdigit():
            raise Wrong(f"{self.name}: the key stock must hold a whole number, not {value!r:.60}")
        sales: Any = orders.value if orders else ()
        if type(sales) is not tuple:
            raise Wrong(f"{self.name}: orders must be a list: " + RECORD)
        for sale in sales:
            if sale not in (b"A", b"B", b"C", b"D"):
                raise Wrong(
                    f"{self.name}: in orders stands {sale!r:.60}, who is no buyer: {RECORD}"
                )
        locks = sorted(
            key
            for key, entry in entries.items()
            if LOCK in key.lower() and isinstance(entry.value, bytes)
        )
        lock: Any = entries[locks[0]].value if locks else None
        # What a key that is called a lock is for, its author knows: nothing is found of it.
        return Book(int(value), tuple(Sold(sale.decode(), 1) for sale in sales), lock, True)


RECORD = 'record a sale by redis.rpush("orders", buyer)'
