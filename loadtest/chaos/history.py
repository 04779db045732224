"""A history: the buyers' requests and answers, the faults meanwhile, and the books in the end.

A file of JSON lines, one event a line, in any order. Each has an `event` (a key of EVENTS) and the
members of that class; one that is null, or has its default, may be left out. All moments are ns of
one monotonic clock, the harness's (time.monotonic_ns; on Linux all processes of a machine share
it). A key belongs to an item: the same key for two items is two purchases.

    {"event":"run","seed":7,"minutes":1.0,"durability":"safe","database":"sqlite"}
    {"event":"act","number":1,"at":300}
    {"event":"begun","called":10,"answered":20,"item":"apple","round":3,"stock":50,"mode":"atomic"}
    {"event":"called","op":1,"at":30,"deed":"buy","buyer":"b1","item":"apple","key":"k","units":2}
    {"event":"told","op":1,"at":41,"answer":"SOLD","round":3,"order":"0198…","left":48}
    {"event":"fault","kind":"kill","where":"worker","since":35,"until":90,"hit":[1]}
    {"event":"over","called":95,"answered":99,"item":"apple","round":3}
    {"event":"entry","where":"database","id":"0198…","item":"apple","round":3,"units":2,"key":"k"}
    {"event":"served","at":97,"item":"apple","round":3,"seconds":0.01}
    {"event":"audited","at":200,"item":"apple","round":3,"stock":50,"left":48,"held":0,"sold":2}

A request without an answer has an unknown outcome, like one with the answer UNKNOWN.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

import orjson


class Action(StrEnum):
    """An action of a buyer. Each carries the key of its purchase."""

    BUY = "buy"  # in a round with holds it makes a hold, else an order
    PAY = "pay"
    DECLINE = "decline"  # the payment page says no
    CANCEL = "cancel"  # the buyer gives the hold back
    LOOK = "look"  # with a key: at this purchase's own page; without one: at the shelf


class Reply(StrEnum):
    """The shop's reply to a buyer, whichever status and page carried it."""

    SOLD = "SOLD"  # it is an order, now or from before; `order`, and `left` if this press sold it
    HELD = "HELD"  # it is a hold, now or from before; `order`, and `left` if this press made it
    SOLD_OUT = "SOLD_OUT"  # fewer than asked for: `left`
    BUSY = "BUSY"  # this press did nothing
    LIMIT = "LIMIT"  # this buyer would have more than a buyer may have in this round
    EXPIRED = "EXPIRED"  # the hold under this key has run out
    GIVEN_BACK = "GIVEN_BACK"  # the hold was declined or cancelled, now or before
    SHELF = "SHELF"  # a look at the shelf: `left`, which may be a moment old
    REFUSED = "REFUSED"  # any other 4xx: this press did nothing (not on sale, no such order …)
    UNKNOWN = "UNKNOWN"  # time-out, reset, 5xx but BUSY: it may have happened, or yet happen


class Kind(StrEnum):
    """A kind of fault."""

    KILL = "kill"  # SIGKILL
    FREEZE = "freeze"  # SIGSTOP, longer than every lease
    SWALLOW = "swallow"  # the reply is lost
    DELAY = "delay"
    CUT = "cut"  # the connection is reset
    HALF_OPEN = "half_open"  # the connection is open, and nothing comes through
    FAILOVER = "failover"  # to a replica that has missed the last writes
    DISK_FULL = "disk_full"
    CLOCK = "clock"  # a worker's clock is stepped by hours
    LOG_CUT = "log_cut"  # the store's log ends with its last sync
    SWITCH = "switch"  # to another round or mode while buyers buy


class Part(StrEnum):
    WORKER = "worker"
    FULFIL = "fulfil"
    STORE = "store"
    REPLICA = "replica"
    DATABASE = "database"
    SHOP = "shop"  # all of its workers


class Book(StrEnum):
    DATABASE = "database"  # a row of the orders' table
    STORE = "store"  # a sale that the store has, in its stream, under its key or as a dead letter


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The whole run; exactly one per history.

    `late` is for how long after its call a request may still take effect (ns; the longest freeze
    and every time-out on the way); None: forever.
    """

    seed: int
    minutes: float
    durability: str  # fast, safe, replicated
    database: str  # sqlite, postgresql
    late: int | None = None
    modes: tuple[str, ...] = ()  # ways to sell that were played
    holds: bool = False  # in most rounds
    planned: int = 0  # acts


@dataclass(frozen=True, slots=True)
class ActPlayed:
    """An act of the plan was played to its end, and its rounds were audited."""

    number: int  # the first is 1
    at: int


@dataclass(frozen=True, slots=True)
class RoundStarted:
    """A round was started, at some moment between `called` and `answered`."""

    called: int
    answered: int
    item: str
    round: int
    stock: int
    mode: str  # mode or mode:recipe
    hold: int | None = None  # ms that a hold lasts by the store's clock; None: a buy is a sale
    limit: int | None = None  # units that one buyer may have in this round
    price: int | None = None  # of one unit, in cents, as the catalogue has it
    delay: int = 0  # ms from its start until it opens


@dataclass(frozen=True, slots=True)
class RoundEnded:
    """A round was ended. `answered` None: whether, or when, is unknown."""

    called: int
    item: str
    round: int
    answered: int | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """A buyer sends a request. `op` is its unique number in this history."""

    op: int
    at: int
    deed: Action
    buyer: str
    item: str
    key: str | None = None
    units: int = 0  # of a BUY
    round: int | None = None  # the round that was running, as far as the harness knows
    order: str | None = None  # the order's id that a PAY, DECLINE, CANCEL or LOOK names
    cookie: str = ""  # digest of the cookie that a BUY was sent with; "": none, or not recorded


@dataclass(frozen=True, slots=True)
class Response:
    op: int
    at: int
    answer: Reply
    round: int | None = None  # in the answer; None: it has none
    order: str | None = None
    left: int | None = None  # units free right after this; None for an action done before
    evidence: str = ""  # status or exception: "503", "ReadTimeout"
    cents: int | None = None  # the price of all units, on the order's page
    pay_until: int | None = None  # a hold's deadline, ms since 1970 by the store's clock
    pay_in: int | None = None  # ms until then


@dataclass(frozen=True, slots=True)
class InjectedFault:
    """A fault.

    `hit` are the ops under way that it hit, `unbooked` the sales that were no orders.
    """

    kind: Kind
    where: Part
    since: int
    until: int
    hit: tuple[int, ...] = ()
    unbooked: int = 0
    detail: str = ""  # "worker 2, pid 4711", "store -> worker, 3 replies"
    items: tuple[str, ...] = ()  # the items with rounds that it can reach; empty: all


@dataclass(frozen=True, slots=True)
class BookEntry:
    """One line of the books, read after all had time to finish."""

    where: Book
    id: str
    item: str
    round: int
    units: int
    key: str
    buyer: str = ""
    price: int | None = None  # of one unit, in cents


@dataclass(frozen=True, slots=True)
class RoundAudit:
    """An audit of a round. `settled` False: something was still under way.

    `called` is the moment of its request, while buyers bought; None: it is the round's last audit.
    `found_left` and `found_held` are what the harness has read by itself, without the audit, right
    before and right after it; None: it could not, or the two differed.
    """

    at: int
    item: str
    round: int
    stock: int
    left: int
    held: int
    sold: int
    settled: bool = True
    verdict: str = ""  # the audit's own verdict: it may be blind
    found_left: int | None = None
    found_held: int | None = None
    marked: bool = False  # the store has the mark of a loss of the round
    called: int | None = None
    mended: bool = False  # a repair has written the round's figures


@dataclass(frozen=True, slots=True)
class ServedAgain:
    """After all repairs of an act, a new buyer pressed until the shop knew the stock.

    `seconds` until then; None: not within the harness's patience. `evidence` is the last answer's.
    """

    at: int
    item: str
    round: int
    seconds: float | None = None
    evidence: str = ""


Event = (
    RunStarted
    | ActPlayed
    | RoundStarted
    | RoundEnded
    | Request
    | Response
    | InjectedFault
    | BookEntry
    | RoundAudit
    | ServedAgain
)
EVENTS: dict[str, type[Any]] = {
    "run": RunStarted, "act": ActPlayed, "begun": RoundStarted, "over": RoundEnded,
    "called": Request, "told": Response, "fault": InjectedFault, "entry": BookEntry,
    "audited": RoundAudit, "served": ServedAgain,
}  # fmt: skip
NAMES = {kind: name for name, kind in EVENTS.items()}
WORDS: dict[tuple[str, str], type[StrEnum]] = {
    ("called", "deed"): Action,
    ("told", "answer"): Reply,
    ("fault", "kind"): Kind,
    ("fault", "where"): Part,
    ("entry", "where"): Book,
}


def encode(event: Event) -> bytes:
    """Return a line, with its end."""
    members = {name: getattr(event, name) for name in event.__slots__}
    written = {name: value for name, value in members.items() if value not in (None, ())}
    return orjson.dumps({"event": NAMES[type(event)]} | written) + b"\n"


def decode(line: bytes | str) -> Event:
    """Parse a line. Raises ValueError for a line that is no event of ours."""
    try:
        members = orjson.loads(line)
        name = members.pop("event")
        for member, value in members.items():
            if words := WORDS.get((name, member)):
                members[member] = words(value)
            elif isinstance(value, list):
                members[member] = tuple(value)
        event: Event = EVENTS[name](**members)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"This is no event of a history: {line!r} ({error})") from error
    return event


def read(lines: Iterable[bytes]) -> list[Event]:
    """Return all events. A last line without an end was left by a killed harness: it is ignored."""
    return [decode(line) for line in lines if line.endswith(b"\n")]


class Recorder:
    """Records events, from any number of threads; each is in the file when `note` returns."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("ab", buffering=0)
        self.lock = threading.Lock()

    def note(self, event: Event) -> None:
        line = encode(event)
        with self.lock:
            self.file.write(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()
