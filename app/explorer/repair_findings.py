"""Findings where a store is repaired after a loss."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from badluck.findings.endless_wait import STUCK
from badluck.model.values import Entry, Stream
from badluck.report.saved_traces import Columns
from badluck.rule import Ending, EndRule, Rule, StateRule, StepRule, StepView, View
from badluck.target import Shown

from app.domain import Order
from app.store import keys
from app.store.keys import Keys

COLUMNS: Columns = {"left": int, "sales": str, "dead": str, "mark": str}


class MendBook(NamedTuple):
    """Ids of sales in the stream and among the dead letters; `keys` are those that have bought."""

    left: int
    sales: tuple[str, ...]
    dead: tuple[str, ...]
    keys: frozenset[str]
    lifted: bool  # the mark of the loss is gone
    mended: bool  # a repair was written
    lock: None = None

    def shown(self) -> Shown:
        mark = "lifted" if self.lifted else "stands"
        return dict(
            zip(COLUMNS, (self.left, _listed(self.sales), _listed(self.dead), mark), strict=True)
        )


def _listed(ids: Iterable[str]) -> str:
    return " ".join(id.removeprefix("order-") for id in ids)


def read(entries: dict[bytes, Entry], names: Keys) -> MendBook:
    def value(name: str) -> Any:
        entry = entries.get(name.encode())
        return entry.value if entry else None

    def ids(name: str) -> tuple[str, ...]:
        stream = value(name)
        records = stream.entries if isinstance(stream, Stream) else ()
        return tuple(Order.decode(record.fields[-1]).id for record in records)

    prefix = names.key("").encode()
    bought = {key.removeprefix(prefix).decode() for key in entries if key.startswith(prefix)}
    return MendBook(
        int(value(names.ended) or 0),
        ids(names.sales),
        ids(keys.dead_letters(names.item)),
        frozenset(bought),
        value(keys.lacks(names.item)) is None,
        value(names.mended) is not None,
    )


def _too_much(view: View) -> bool:
    return bool(view.book.mended and view.book.left > view.target.stock - view.target.sold)


def _twice(view: View) -> bool:
    orders = (*view.book.sales, *view.book.dead)
    return len(set(orders)) < len(orders)


def _gone(view: View) -> bool:
    present = {*view.book.sales, *view.book.dead}
    wanted = {view.target.waiting, *([view.target.confirmed] if view.book.mended else [])}
    return bool(wanted - present)


def _too_early(view: View) -> bool:
    """Return whether the item is on sale again without an acceptance or a repair."""
    return bool(view.book.lifted and not view.book.mended and not view.target.accepts)


def _forgets(view: View) -> bool:
    wanted = view.target.booked_keys | (view.target.told_keys if view.book.mended else set())
    return bool(view.book.lifted and wanted - view.book.keys)


def _unasked(taken: StepView) -> bool:
    """Return whether a step wrote after the loss was settled; a dead letter only moves a sale."""
    before, after = taken.before, taken.after
    added = {*after.sales, *after.dead} - {*before.sales, *before.dead}
    wrote = bool(added) or after.mended != before.mended or after.left != before.left
    return bool(before.lifted and wrote)


def _error(end: Ending) -> bool:
    return end.undisturbed and any(word == "ERROR" for _, word in end.view.answers.words)


RULES: tuple[Rule, ...] = (
    StateRule(
        "too much left",
        "What is left was written with more units than were stocked and not sold.",
        _too_much,
    ),
    StateRule(
        "brought back twice",
        "A sale stands in the store twice: its buyer pays twice.",
        _twice,
    ),
    StateRule(
        "sale not back",
        "A sale that a buyer was told of is in neither the stream nor the dead letters.",
        _gone,
    ),
    StateRule(
        "lifted too early",
        "The item may be sold again, but it was neither mended nor was the loss accepted.",
        _too_early,
    ),
    StateRule(
        "key forgotten",
        "The item may be sold again, and a key that has bought is unknown: it buys a second time.",
        _forgets,
    ),
    StepRule(
        "written unasked",
        "A repair wrote after the mark had gone: the next round may run by then.",
        ("goes", "arrives"),
        _unasked,
    ),
    STUCK,
    EndRule("error", "Without any fault, a process got an error.", _error),
)
