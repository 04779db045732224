"""Errors of the domain, each with a text for users."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from app.text import Text, instead, together


class ShopError(Exception):
    """An error whose text is for the buyer or the instructor."""

    def sentences(self) -> list[str]:
        """The sentences, each a Text if it is for people; `str(error)` is no Text any more."""
        return [word for word in self.args if isinstance(word, str)]


class UnknownItem(ShopError):
    """No item of that name is in the catalogue."""


class UnknownOrder(ShopError):
    """No order of that id is in the store or the database."""


class UnknownRound(ShopError):
    """The item never had a round of this number."""


class UnknownWay(ShopError):
    """No mode or recipe of that `name` is in the catalogue."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.name = name[:60]
        unknown = Text("There is no %(name)s.", name=repr(self.name))
        super().__init__(together(unknown, instead(self.name, known)))


class UnknownRun(ShopError):
    """No run of that id is in the store or the database."""


class RunIsOn(ShopError):
    """A run of the item is on; `id` is that run's."""

    def __init__(self, id: str) -> None:
        super().__init__(Text("A stampede on this item is on. Watch it, or stop it first."))
        self.id = id


class UnknownComparison(ShopError):
    """No comparison of that id is in the store or the database."""


class ComparisonIsOn(ShopError):
    """A comparison is on, and nothing else may be measured meanwhile; `id` is the comparison's."""

    def __init__(self, id: str) -> None:
        super().__init__(Text("A comparison is on. Watch it, or stop it first."))
        self.id = id


class ClassIsOn(ShopError):
    """The class's sale is under way: counting down, or selling."""


class NotOnSale(ShopError):
    """No round of the item is running."""


class StockHeld(ShopError):
    """A purchase of a round that has ended still holds its stock; no next round has begun."""

    def __init__(self) -> None:
        super().__init__(
            Text(
                "A purchase of the round before still holds its stock. That round has ended, and "
                "nothing is on sale: start the next round again in a moment."
            )
        )


class ForTheClass(NotOnSale):
    """A round of the item runs, and sells under tickets only (service/selling.py)."""


class NotOpen(NotOnSale):
    """A round of the item runs, and does not sell yet; `wait` ms are left until it does."""

    def __init__(self, wait: int) -> None:
        seconds = round(wait / 1000, 1)
        super().__init__(Text("Not open yet: %(seconds)s s to go.", seconds=seconds))
        self.wait = wait


class CannotSell(NotOnSale):
    """A round of the item runs, and this host lacks what its mode needs. Nothing was sold.

    `str` of it says why, to a person who runs the host; its sentence is for buyers.
    """

    def __init__(self, why: str) -> None:
        super().__init__(
            Text(
                "This server cannot sell this item right now. Nothing was sold: try again in a "
                "moment."
            )
        )
        self.why = why

    def __str__(self) -> str:
        return self.why


class TooOften(ShopError):
    """One address tries to buy more often than it may; `wait` s are left until it may again.

    Nothing was read, and nothing was sold.
    """

    def __init__(self, wait: int) -> None:
        super().__init__(
            Text(
                "You ask to buy too often. Try again in %(seconds)s s: it is the same purchase.",
                seconds=wait,
            )
        )
        self.wait = wait


class KeyReused(ShopError):
    """The idempotency key belongs to an order with another body."""


class UnknownForm(ShopError):
    """Neither a cookie nor a key of ours names the form's buyer: it would buy for a stranger."""


class Away(ShopError):
    """A server does not answer, and whether its last command ran is unknown.

    Raised out of `in_doubt`. A purchase is retried under its idempotency `key`; a press on an
    `order` (an id) is repeated. Neither counts twice.
    """

    key = ""
    order = ""


class StoreAway(Away):
    """The store (Redis, Valkey) does not answer."""


class DatabaseAway(Away):
    """The database does not answer."""


class InDoubt(Away):
    """An unexpected error came when something may have happened already."""


@contextmanager
def in_doubt(key: str = "", order: str = "") -> Iterator[None]:
    """Add the way to retry to every error that leaves the outcome open: see Away."""
    try:
        yield
    except Away as error:
        error.key, error.order = key, order
        raise
    except (ShopError, RoundLeft):
        raise
    except Exception as error:
        doubt = InDoubt(f"{type(error).__name__}: {error}")
        doubt.key, doubt.order = key, order
        raise doubt from error


class Unreadable(ShopError, ValueError):
    """A record in store or database that cannot be read here."""


class Newer(Unreadable):
    """A record that only a newer version of us can read."""

    def __init__(self, said: str = "") -> None:
        super().__init__(
            said
            or Text("A newer version of Last Apple made this: it cannot be read here. Upgrade.")
        )


class UnknownDeadLetter(ShopError):
    """The item has no dead letter of that id, or none any more."""


class WrongDatabase(Away):
    """The database cannot keep what we sell; the text says what to do."""


class HostsDiffer(ShopError):
    """This host has other settings than the hosts with which it shares the store."""


class WrongPair(ShopError):
    """Store and database do not belong together; the text says what to do."""


class LockBusy(Exception):
    """The lock could not be taken within the given time."""


class LockLost(Exception):
    """The critical section ended, and its lock was free or another owner's."""


@dataclass
class Invalid(ShopError):
    """Invalid input. `errors` maps each field to a sentence."""

    errors: dict[str, str] = field(default_factory=dict)

    def sentences(self) -> list[str]:
        return list(self.errors.values())

    def __str__(self) -> str:
        return " ".join(self.errors.values())


class RoundLeft(Exception):
    """The worker has left the round; look up which one runs now. It is never shown to people."""
