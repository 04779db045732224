"""Sales that could not be booked: looked at, booked after all, or dropped, by hand."""

from __future__ import annotations

import redis
from sqlalchemy.orm import Session, sessionmaker

from app.domain import ITEMS, UnknownDeadLetter, Unreadable
from app.service.booking import book
from app.service.pairing import Pairing
from app.service.refusals import require_item
from app.store import dead_letters, rounds
from app.store.clients.redis import answering
from app.store.dead_letters import DeadLetter
from app.store.keys import Keys

__all__ = ["DeadLetter", "DeadLetters"]


class DeadLetters:
    """Dead letters for a person at a terminal; fulfil writes them."""

    def __init__(
        self, store: redis.Redis, sessions: sessionmaker[Session], pairing: Pairing
    ) -> None:
        self.store = store
        self.sessions = sessions
        self.pairing = pairing

    def every(self, item: str = "", number: int | None = None) -> list[DeadLetter]:
        """Return all dead letters, or an item's, or a round's; oldest first.

        Raises UnknownItem, StoreAway.
        """
        with answering():
            letters = [
                letter
                for each in ([require_item(item)] if item else ITEMS)
                for letter in dead_letters.every(self.store, each)
            ]
        return [letter for letter in letters if number in (None, letter.round)]

    def find(self, item: str, id: str) -> DeadLetter:
        """Return one dead letter. Raises UnknownItem, UnknownDeadLetter, StoreAway."""
        with answering():
            letter = dead_letters.find(self.store, require_item(item), id)
        if letter is None:
            raise UnknownDeadLetter(f"{item} has no dead letter {id}, or none any more.")
        return letter

    def retry(self, letter: DeadLetter) -> str:
        """Book a dead letter now, whether fulfil runs or not. Return why it failed; "" if booked.

        The order is booked before the letter is removed: interrupted in between, it is booked once
        all the same. Raises WrongPair, StoreAway, DatabaseAway.
        """
        self.pairing.require(letter.item)
        if letter.put_back:
            return f"{letter.reason} Its units are back in stock."
        try:
            order = letter.read()
        except Unreadable as error:
            return str(error)
        with answering():
            mode = rounds.mode(self.store, Keys(letter.item, letter.round))
        if refused := book(self.sessions, {b"": order}, mode):
            return refused[b""].reason
        with answering():
            dead_letters.booked(self.store, letter, order)
        return ""

    def drop(self, letter: DeadLetter) -> None:
        """Delete a dead letter for good; its key and its order's page say so for a day.

        Raises UnknownDeadLetter when another process has removed it, StoreAway.
        """
        with answering():
            gone = not dead_letters.drop(self.store, letter)
        if gone:
            raise UnknownDeadLetter(f"{letter.item} has no dead letter {letter.id} any more.")

    def count(self) -> dict[str, int]:
        """Return how many dead letters each item has. Raises StoreAway.

        Items whose store is away are left out.
        """
        with answering():
            return dead_letters.count(self.store, ITEMS)
