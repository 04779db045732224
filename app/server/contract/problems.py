"""Every type of problem: its status and title, its meaning, and its further members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from app.domain import (
    DatabaseAway,
    HoldOver,
    InDoubt,
    Invalid,
    NotBooked,
    NotOpen,
    Outcome,
    Stands,
    StoreAway,
    WrongDatabase,
)
from app.server.answers import HTTP_WORDS, PROBLEMS, kind
from app.server.contract.meanings import MEANINGS, STATUSES
from app.server.outcomes import OUTCOMES, NotSold, OverLimit, named
from app.text import Text


class Problem(TypedDict):
    """An error (RFC 9457). Title and detail are in the visitor's language."""

    type: str
    title: str
    status: int
    detail: str
    request: str  # the request's id, by which the shop's operator finds it


class InvalidProblem(Problem):
    """A problem with a sentence for each field that is wrong."""

    errors: dict[str, str]


class NotOpenProblem(Problem):
    """A problem with the ms until the round opens."""

    opens_in_ms: int


class AwayProblem(Problem, total=False):
    """A problem that may have happened all the same: retry with its key, or on its order."""

    idempotency_key: str  # of a purchase
    order: str  # the id; of what was held


class HoldOverProblem(Problem):
    """A problem with how the hold ended, and until when it could be paid for (ms since 1970)."""

    outcome: Stands
    order: str
    pay_until: int


class NotBookedProblem(Problem):
    """A problem with the order's id."""

    order: str


class NotSoldProblem(Problem, NotSold):
    """A problem with how the purchase went."""


class OverLimitProblem(Problem, OverLimit):
    """A problem with how many units the buyer has, and may have."""


MEMBERS: dict[str, type] = {
    kind(HoldOver): HoldOverProblem,
    kind(NotBooked): NotBookedProblem,
    **{kind(Invalid): InvalidProblem, kind(NotOpen): NotOpenProblem},
    **{kind(away): AwayProblem for away in (StoreAway, DatabaseAway, WrongDatabase, InDoubt)},
    **{named(outcome): NotSoldProblem for outcome in OUTCOMES},
    named(Outcome.LIMIT): OverLimitProblem,
}


@dataclass(frozen=True, slots=True)
class ProblemType:
    """One type of problem. `members` is a TypedDict, all that its document has."""

    status: int
    title: Text
    says: Text
    members: type


KINDS: dict[str, ProblemType] = {
    name: ProblemType(status, title, MEANINGS[name], MEMBERS.get(name, Problem))
    for name, (status, title) in {
        **{named(outcome): status_and_title for outcome, status_and_title in OUTCOMES.items()},
        **{kind(error): status_and_title for error, status_and_title in PROBLEMS.items()},
    }.items()
}
# Without a type of their own: they say no more than their status does.
BARE: dict[int, ProblemType] = {
    status: ProblemType(status, title, STATUSES.get(status, words), Problem)
    for status, (title, words) in HTTP_WORDS.items()
}
