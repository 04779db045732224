"""A history: what buyers did and were told, what was broken meanwhile, and what the books say.

A file of JSON lines, one event a line, in any order. Each says its `event` (the class's name here,
in small letters) and that class's members; one that is null, or has its default, may be left out.
All moments are ns of one monotonic clock, the harness's (time.monotonic_ns; on Linux all processes
of a machine share it). A key belongs to an item: the same key for two items is two purchases.

    {"event":"run","seed":7,"minutes":1.0,"durability":"safe","database":"sqlite"}
    {"event":"begun","called":10,"told":20,"item":"apple","round":3,"stock":50,"mode":"atomic"}
    {"event":"called","op":1,"at":30,"deed":"buy","buyer":"b1","item":"apple","key":"k","units":2}
    {"event":"told","op":1,"at":41,"answer":"SOLD","round":3,"order":"0198…","left":48}
    {"event":"fault","kind":"kill","where":"worker","since":35,"until":90,"hit":[1]}
    {"event":"over","called":95,"told":99,"item":"apple","round":3}
    {"event":"entry","where":"database","id":"0198…","item":"apple","round":3,"units":2,"key":"k"}
    {"event":"audited","at":200,"item":"apple","round":3,"stock":50,"left":48,"held":0,"sold":2}

What was called and never told is as unknown as what was told UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import orjson

from loadtest.chaos.words import Answer, Book, Deed, Kind, Where


@dataclass(frozen=True, slots=True)
class Run:
    """The whole run; exactly one a history.

    `late` is for how long after its call something sent may still happen (ns; the longest freeze
    and every time-out on the way), None for ever.
    """

    seed: int
    minutes: float
    durability: str  # fast, safe, replicated
    database: str  # sqlite, postgresql
    late: int | None = None
    modes: tuple[str, ...] = ()  # ways to sell that were played
    holds: bool = False  # in most rounds


@dataclass(frozen=True, slots=True)
class Begun:
    """A round was started, at some moment between `called` and `told`."""

    called: int
    told: int
    item: str
    round: int
    stock: int
    mode: str  # mode or mode:recipe
    hold: int | None = None  # ms that a hold lasts by the store's clock; None: a buy is a sale
    limit: int | None = None  # units that one buyer may have in this round


@dataclass(frozen=True, slots=True)
class Over:
    """A round was ended. `told` None: nobody knows whether, or when."""

    called: int
    item: str
    round: int
    told: int | None = None


@dataclass(frozen=True, slots=True)
class Called:
    """A buyer sends something. `op` is its number in this history, of which no two are the same."""

    op: int
    at: int
    deed: Deed
    buyer: str
    item: str
    key: str | None = None
    units: int = 0  # of a BUY
    round: int | None = None  # that was running as far as the harness knows
    order: str | None = None  # the order's id that a PAY, DECLINE, CANCEL or LOOK names
    cookie: str = ""  # stands for the one that a BUY was sent with; "": none, or nobody noted it


@dataclass(frozen=True, slots=True)
class Told:
    op: int
    at: int
    answer: Answer
    round: int | None = None  # as the answer says; None: it does not
    order: str | None = None
    left: int | None = None  # units free right after this; None for what was done before
    said: str = ""  # status or exception, for the evidence: "503", "ReadTimeout"


@dataclass(frozen=True, slots=True)
class Fault:
    """`hit` are the ops under way that it met, `unbooked` the sales it met that were no orders."""

    kind: Kind
    where: Where
    since: int
    until: int
    hit: tuple[int, ...] = ()
    unbooked: int = 0
    detail: str = ""  # "worker 2, pid 4711", "store -> worker, 3 replies"
    items: tuple[str, ...] = ()  # whose rounds it can reach; empty: all


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the books, read when everything has had its time."""

    where: Book
    id: str
    item: str
    round: int
    units: int
    key: str
    buyer: str = ""


@dataclass(frozen=True, slots=True)
class Audited:
    """The last audit of a round. `settled` False: something was still under way.

    `found_left` and `found_held` are what the harness has read by itself, without the audit, right
    before and right after it; None: it could not, or they were not the same.
    """

    at: int
    item: str
    round: int
    stock: int
    left: int
    held: int
    sold: int
    settled: bool = True
    verdict: str = ""  # the audit's own word: it may be blind
    found_left: int | None = None
    found_held: int | None = None
    marked: bool = False  # found then: the store knows that it has lost something of it


Event = Run | Begun | Over | Called | Told | Fault | Entry | Audited
KINDS: dict[str, type[Any]] = {
    kind.__name__.lower(): kind for kind in (Run, Begun, Over, Called, Told, Fault, Entry, Audited)
}
WORDS: dict[tuple[str, str], type[StrEnum]] = {
    ("called", "deed"): Deed,
    ("told", "answer"): Answer,
    ("fault", "kind"): Kind,
    ("fault", "where"): Where,
    ("entry", "where"): Book,
}


def encode(event: Event) -> bytes:
    """A line, with its end."""
    return (
        orjson.dumps(
            {"event": type(event).__name__.lower()}
            | {
                name: value
                for name in event.__slots__
                if (value := getattr(event, name)) is not None and value != ()
            }
        )
        + b"\n"
    )


def decode(line: bytes | str) -> Event:
    """Raises ValueError for what is no event of ours."""
    try:
        members = orjson.loads(line)
        name = members.pop("event")
        for member, value in members.items():
            if words := WORDS.get((name, member)):
                members[member] = words(value)
            elif isinstance(value, list):
                members[member] = tuple(value)
        event: Event = KINDS[name](**members)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"This is no event of a history: {line!r} ({error})") from error
    return event


def read(lines: Iterable[bytes]) -> list[Event]:
    """All events. A last line without an end is what a killed harness left: it says nothing."""
    return [decode(line) for line in lines if line.endswith(b"\n")]
