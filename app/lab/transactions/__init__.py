"""MULTI and EXEC next to BEGIN and COMMIT: the first tutorial's lessons, live on both servers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.lab.transactions.case import Case
from app.lab.transactions.noticing import SameValue, Unwatch, WatchNotices
from app.lab.transactions.seeing import Queued, ReadInside
from app.lab.transactions.sides import Postgres, ServerSide, ServerStep, Valkey
from app.lab.transactions.undoing import Discard, ErrorInsideExec, ErrorWhileQueuing, NoExec
from app.store.throwaway import Pair, pair

__all__ = ["CASES", "Case", "Pair", "Reading", "Result", "ServerStep", "joined", "pair", "play"]

CASES: tuple[Case, ...] = (
    Queued(),
    ReadInside(),
    ErrorWhileQueuing(),
    ErrorInsideExec(),
    Discard(),
    NoExec(),
    WatchNotices(),
    SameValue(),
    Unwatch(),
)


@dataclass(frozen=True)
class Reading:
    """One server's part of a case: every statement, and the stock before and after."""

    steps: list[ServerStep]
    before: str
    after: str
    so: str  # the conclusion, made from the replies
    as_taught: bool


@dataclass(frozen=True)
class Result:
    """One case, played on both servers."""

    name: str
    title: str
    teaches: str
    valkey: Reading
    postgresql: Reading
    so: str
    as_taught: bool
    taught: str  # the conclusion that is taught


def play(case: Case, where: Pair) -> Result:
    """Play a case on both servers, each from a fresh stock."""
    taught_valkey, taught_postgresql = case.taught
    with Valkey(where.valkey) as valkey:
        left = _reading(valkey, lambda: case.valkey(valkey), taught_valkey)
    with Postgres(where.postgres) as postgres:
        right = _reading(postgres, lambda: case.postgres(postgres), taught_postgresql)
    return joined(case, left, right)


def joined(case: Case, valkey: Reading, postgresql: Reading) -> Result:
    """Return both servers' readings of a case with the conclusion."""
    return Result(
        case.name,
        case.title,
        case.teaches,
        valkey,
        postgresql,
        so=_both(valkey.so, postgresql.so),
        as_taught=valkey.as_taught and postgresql.as_taught,
        taught=_both(*case.taught),
    )


def _reading(side: ServerSide, story: Callable[[], str], taught: str) -> Reading:
    before = side.stock()
    so = story()
    return Reading(side.steps, before, side.stock(), so, as_taught=so == taught)


def _both(valkey: str, postgresql: str) -> str:
    return f"Valkey: {valkey}. PostgreSQL: {postgresql}."
