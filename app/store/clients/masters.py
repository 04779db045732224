"""Redlock's masters, each known by an identity that it keeps across restarts, whatever its address.

Two majorities share a master only if all workers count the same masters. So a round's record lists
their identities, and a worker checks its own masters against that list: each master that answers
must be on the list, once, and together they must be a majority. A minority may be away; it is
checked when it is back. To list the masters, all of them must answer: a master that is not on the
list may never vote.

A master that lost its data has lost its locks, too. It gets another identity, which counts only
from the next round on.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Sequence
from typing import Any

import redis

from app.domain import Invalid
from app.text import Text, counted

IDENTITY = "lastapple:master"  # string: a random token, written once
FRESH_S = 0.2  # for which a look at the masters counts: less than between two beats of a worker


class Masters:
    """The masters that this process reaches. Its threads share one look at them."""

    def __init__(self, clients: Sequence[redis.Redis]) -> None:
        self.clients = clients
        self._looking = threading.Lock()
        self._looked: tuple[str, str, float] = ("", "", 0.0)  # list, what is wrong, moment

    def identities(self) -> str:
        """Return a list of all identities; a master without one gets it now.

        Raises Invalid when a master does not answer, or is named twice.
        """
        identities = []
        for number, client in enumerate(self.clients, 1):
            try:
                client.set(IDENTITY, secrets.token_hex(8), nx=True)
                identity: Any = client.get(IDENTITY)
                identities.append(identity.decode())
            except redis.RedisError as error:
                away = Text(
                    "Master %(number)s of lock:redlock does not answer. A round starts only while "
                    "all %(count)s do.",
                    number=number,
                    count=len(self.clients),
                )
                raise Invalid({"mode": away}) from error
        if len(set(identities)) < len(identities):
            raise Invalid({"mode": Text("Two of REDLOCK_URLS lead to one server. Name it once.")})
        return ",".join(identities)

    def mismatch(self, listed: str) -> str:
        """Return why no lock of a round with this list can be taken here; "" if it can."""
        with self._looking:
            looked, wrong, at = self._looked
            if looked != listed or time.monotonic() - at > FRESH_S:
                wrong = self._compare(listed.split(","))
                self._looked = listed, wrong, time.monotonic()
            return wrong

    def _compare(self, listed: Sequence[str]) -> str:
        if len(listed) != len(self.clients):
            return Text(
                "the round has %(listed)s masters, and this host has %(here)s. Set REDLOCK_URLS to "
                "the same servers on every host.",
                listed=len(listed),
                here=len(self.clients),
            )
        listed_here: list[str] = []
        for number, client in enumerate(self.clients, 1):
            try:
                reply: Any = client.get(IDENTITY)
            except redis.RedisError:
                continue
            identity = (reply or b"").decode()
            if identity not in listed or identity in listed_here:
                return Text(
                    "master %(number)s is not one of those that the round was started with. Set "
                    "REDLOCK_URLS to the same servers on every host. If that master lost its data, "
                    "start a new round.",
                    number=number,
                )
            listed_here.append(identity)
        majority = len(listed) // 2 + 1
        if len(listed_here) >= majority:
            return ""
        return counted(
            "%(num)s of %(count)s masters answers, and a lock needs %(majority)s.",
            "%(num)s of %(count)s masters answer, and a lock needs %(majority)s.",
            len(listed_here),
            count=len(listed),
            majority=majority,
        )
