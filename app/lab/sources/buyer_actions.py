"""A buyer's step in a sentence, made from its commands and from what they change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.text import Text

Place = Mapping[str, Any]  # as badluck/game/play.py returns them

WRITES = {"write.lua", "write_fenced.lua", "sell.lua"}  # scripts that write the stock
READS = {"GET", "MGET", "read_fenced.lua"}
ASKS = {"SET", "SETNX", "GETSET", "acquire_fenced.lua", "queue/acquire.lua"}  # for a lock
NO = {"nil", "0", "[0"}  # beginnings of a negative answer
BROKE = "(the connection broke)"


@dataclass(frozen=True)
class Deed:
    """One step of an actor, and the state before and after it."""

    who: str
    fiber: int  # 0: the purchase; else a renewal next to it
    commands: list[list[str]]  # the words of each
    answer: str  # of a transaction, only EXEC's answer
    before: Place
    after: Place
    owner: str  # the lock's owner before the step; "": none
    owns: str  # the lock's owner after it

    def sent(self, *names: str, key: str = "") -> bool:
        """Return whether one of these commands was sent, about that key if one is given."""
        return any(
            command[0] in names and (not key or key in command[1:]) for command in self.commands
        )

    def about(self, key: str) -> bool:
        """Return whether the first command is about this key."""
        return self.commands[0][1:2] == [key]

    @property
    def no(self) -> bool:
        return self.answer.split(",")[0] in NO


def told(deed: Deed) -> Text:
    rules = (_heard, _renewed, _aborted, _written, _counted, _recorded, _locked, _watched, _read)
    for rule in rules:
        if sentence := rule(deed):
            return sentence
    return Text("%(who)s continues.", who=deed.who)


def _heard(deed: Deed) -> Text | None:
    if deed.answer == BROKE:
        return Text("%(who)s finds its connection broken.", who=deed.who)
    if deed.commands == [["hears", "nothing"]]:
        return Text("%(who)s has heard nothing in time.", who=deed.who)
    if deed.commands == [["hears"]]:
        return Text("%(who)s hears from the store.", who=deed.who)
    if deed.commands == [["has", "slept"]]:
        return Text("%(who)s has slept, and continues.", who=deed.who)
    if deed.commands == [["looks", "at", "the", "clock"]]:
        return Text("%(who)s looks at the clock.", who=deed.who)
    if deed.sent("SUBSCRIBE", "SSUBSCRIBE"):
        return Text("%(who)s stands in line until it is called.", who=deed.who)
    return None


def _renewed(deed: Deed) -> Text | None:
    if not deed.fiber:
        return None
    if deed.commands[0][0] == "its":
        return Text("It is time for %(who)s to renew its lock.", who=deed.who)
    if deed.owner == deed.who:
        return Text("%(who)s renews its lock.", who=deed.who)
    if deed.no:
        return Text("%(who)s wants to renew its lock, which is not its own any more.", who=deed.who)
    return Text("%(who)s renews a lock that is not its own.", who=deed.who)


def _aborted(deed: Deed) -> Text | None:
    if deed.sent("EXEC") and deed.answer == "nil":
        return Text(
            "%(who)s’s EXEC aborts, because a watched key has changed: nothing is written.",
            who=deed.who,
        )
    return None


def _written(deed: Deed) -> Text | None:
    """Return the sentence for a write of the stock, with the sale or without."""
    who, left = deed.who, deed.after["shown"]["stock"]
    if not deed.sent(*WRITES, "SET", "queue/release.lua", key="stock"):
        return None
    sold = deed.after["shown"]["sold"] > deed.before["shown"]["sold"]
    other = _written_since(deed)
    if deed.sent("sell.lua"):
        if not sold:
            return Text("%(who)s reads the stock: %(left)s.", who=who, left=left)
        return Text(
            "%(who)s reads, checks, writes %(left)s and records its sale, all in one step.",
            who=who,
            left=left,
        )
    if not sold and not deed.sent("SET"):
        return Text("The store refuses what %(who)s writes: it has lost its lock.", who=who)
    if sold and other:
        return Text(
            "%(who)s writes %(left)s and records its sale, as if %(other)s had not been there.",
            who=who,
            left=left,
            other=other,
        )
    if sold:
        return Text(
            "%(who)s writes %(left)s and records its sale, in one step.", who=who, left=left
        )
    if other:
        return Text(
            "%(who)s writes %(left)s, as if %(other)s had not been there.",
            who=who,
            left=left,
            other=other,
        )
    return Text("%(who)s writes %(left)s.", who=who, left=left)


def _written_since(deed: Deed) -> str:
    """Return the buyer that has written the stock since this one read it; "": none, or unknown."""
    [buyer] = [actor for actor in deed.before["actors"] if actor["name"] == deed.who]
    return next((memory["by"] for memory in buyer["remembers"] if memory["key"] == "stock"), "")


def _counted(deed: Deed) -> Text | None:
    who, left = deed.who, deed.after["shown"]["stock"]
    if deed.sent("DECRBY", key="stock"):
        return Text("%(who)s takes a unit: the stock is %(left)s.", who=who, left=left)
    if deed.sent("INCRBY", key="stock"):
        return Text("%(who)s gives its unit back: the stock is %(left)s.", who=who, left=left)
    return None


def _recorded(deed: Deed) -> Text | None:
    if deed.after["shown"]["sold"] > deed.before["shown"]["sold"]:
        return Text("%(who)s records its sale.", who=deed.who)
    if deed.sent("MSET"):
        return Text("%(who)s notes under its key that it has bought.", who=deed.who)
    return None


def _locked(deed: Deed) -> Text | None:
    if deed.commands[0][1:] and deed.commands[0][1].startswith("claim:"):
        if deed.sent("SET"):
            return Text("%(who)s locks its own key, so that it buys but once.", who=deed.who)
        return Text("%(who)s unlocks its own key.", who=deed.who)
    if deed.before["shown"]["lock"] != deed.after["shown"]["lock"]:
        return _changed_hands(deed)
    return _asked(deed) if deed.about("lock") else None


def _changed_hands(deed: Deed) -> Text:
    who, left, other = deed.who, deed.after["shown"]["stock"], deed.owner
    if deed.owns == who and other:
        return Text("%(who)s takes the lock that was %(other)s’s.", who=who, other=other)
    if deed.owns == who and deed.about("lock") and "stock" in deed.commands[0]:
        return Text("%(who)s takes the lock and reads the stock: %(left)s.", who=who, left=left)
    if deed.owns == who:
        return Text("%(who)s takes the lock.", who=who)
    if deed.owns:
        return Text("%(who)s hands the lock to %(other)s.", who=who, other=deed.owns)
    if other in (who, ""):
        return Text("%(who)s releases the lock.", who=who)
    return Text("%(who)s removes the lock, which is %(other)s’s.", who=who, other=other)


def _asked(deed: Deed) -> Text | None:
    """Return the sentence for a command about the lock that has not changed its shown owner."""
    who, other = deed.who, deed.owner
    if not deed.before["shown"]["lock"] and deed.sent(
        "SET"
    ):  # the lock of one of several masters, which is not shown
        if deed.no:
            return Text("One of the masters does not give its lock to %(who)s.", who=who)
        return Text("One of the masters gives its lock to %(who)s.", who=who)
    if deed.sent(*ASKS) and other:
        return Text(
            "%(who)s tries to take the lock and fails: %(other)s has it.", who=who, other=other
        )
    if deed.sent("EXPIRE"):
        return Text("%(who)s gives its lock an end.", who=who)
    if deed.sent("GET"):
        return Text("%(who)s checks who holds the lock.", who=who)
    if deed.sent("DEL", "release.lua", "queue/release.lua") and deed.no:
        return Text("%(who)s wants to release its lock, which is not its own any more.", who=who)
    if deed.sent("release.lua"):
        return Text("%(who)s gives one of the masters its lock back.", who=who)
    return None


def _watched(deed: Deed) -> Text | None:
    if deed.sent("WATCH", key="stock"):
        return Text("%(who)s begins to watch the stock.", who=deed.who)
    if deed.sent("WATCH", key="lock"):
        return Text("%(who)s begins to watch the lock.", who=deed.who)
    if deed.sent("WATCH"):
        return Text("%(who)s begins to watch whether the round ends.", who=deed.who)
    if deed.sent("UNWATCH"):
        return Text("%(who)s stops watching.", who=deed.who)
    return None


def _read(deed: Deed) -> Text | None:
    if deed.sent("read_fenced.lua") and deed.answer == "nil":
        return Text("The store does not let %(who)s read: it has lost its lock.", who=deed.who)
    if deed.sent(*READS, key="stock"):
        return Text(
            "%(who)s reads the stock: %(left)s.", who=deed.who, left=deed.before["shown"]["stock"]
        )
    return None
