"""docs/promises.md: what is promised, as a page (tests/unit/chaos/test_promises.py writes it)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from loadtest.chaos.fault_classes import FAULTS, OTHERS, FaultClass
from loadtest.chaos.judge.anomalies import Anomaly
from loadtest.chaos.promises import (
    AUDITED,
    EXHIBIT,
    EXHIBITS,
    NOTHING,
    Durability,
    Loss,
    Nuisance,
    Promise,
    holding,
    promise_for,
)

HEAD = """\
# What we promise, and what we do not

Whatever is broken while people buy: what may be lost? Each cell says *nothing*, or has a word
that is explained below. `lastapple chaos` breaks all of it while buyers buy, and holds what they
were told and what the books say against this page. It is made from
[loadtest/chaos/promises.py](../loadtest/chaos/promises.py), which the judge reads, too, and a test
holds it against [the matrix](matrix.md).

*Nothing* means, once everything is up again and has had its time:

- each buyer who was told SOLD has an order, and one key has one order of each item, which is
  its buyer's;
- no more is sold than there was, and `stocked = left + held + sold`: no unit is nobody's, none is
  somebody's twice;
- a hold ends once: it is paid, or its units are back, never both, and no payment is taken after
  its deadline;
- nothing is sold in a round after its end, and to nobody more than the round allows, nor less;
- all answers can be put in one order in which they are true (linearizable): SOLD, HELD and
  SOLD_OUT with what they say is left, each at a moment between question and answer;
- the audit says what is so, and an order is that buyer's who pressed. That holds in every cell.

It does not mean that everybody gets an answer. When something is broken a buyer may be told BUSY,
or that we cannot tell, or nothing: that is no loss, for the same key finds out what happened. Of
two things at once the page promises what each of both lets stand. `decr` may say SOLD_OUT while
somebody puts back what was too much, so its answers about the stock promise nothing; nor do those
of `sql_units` in a round with holds, as it does not see what comes back while it waits for locked
rows. A lock promises as much only while the work under it is shorter than its lease; nothing here
makes a machine fast enough for a lease of some ms.
"""
HOLDS = """\
## Where buyers hold first and then pay

In a round with holds the payment is a step more, whose answer may be lost as well. That adds to
the table:

{more}

Units come back under the lock under which the mode sells. A seller who has outlived it writes over
them: they may be with nobody, or be there twice. The hold itself ends once all the same.
[The explorer shows it](matrix.md#where-buyers-hold-first-and-then-pay).
"""
TOLD: dict[Loss, str] = {
    Anomaly.LOST: "a sale that was acknowledged is gone",
    Anomaly.TWICE: "one key has two orders of an item",
    Anomaly.OVERSOLD: "more is sold than there was",
    Anomaly.STRANDED: "units are nobody's",
    Anomaly.SURPLUS: "units are there twice",
    Anomaly.HELD_ON: "units stay held after their deadline",
    Anomaly.UNBOOKED: "a sale stays a dead letter",
    Anomaly.RETURNED: "it is paid, and its units are given back",
    Anomaly.DENIED: "it is booked, and its buyer was told no",
    Anomaly.STRANGER: "it is booked for another buyer",
    Anomaly.OVER_LIMIT: "somebody has more than a buyer may have",
    Anomaly.LIMITED: "somebody is told of a limit that is not reached",
    Anomaly.LATE: "a payment is taken after the deadline",
    Anomaly.EARLY: "a hold ends before its deadline",
    Anomaly.FORGOTTEN: "a hold that has ended is a hold again, or a key that has bought is refused",
    Anomaly.AFTER_END: "it is sold after the round's end",
    Anomaly.IMPOSSIBLE: "no order of the answers makes all of them true",
    Nuisance.DOUBT: "nobody can tell the buyer at once",
    Nuisance.STUCK: "nobody can buy any more",
    Nuisance.PATIENCE: "BUSY again and again",
}


def page(sound: Sequence[str]) -> str:
    """Of these ways of selling, and of the exhibits."""
    groups = _groups(sound)
    heads = ["", *(_named(names) for names in groups)]
    lines = [_row(heads), _row(["---"] * len(heads))]
    used: dict[str, list[Promise]] = {}
    for fault in FAULTS:
        if fault is OTHERS:
            continue
        for durabilities, cells in _by_durability(fault, groups).items():
            name = f"{fault.name}{_of(durabilities)}"
            lines.append(_row([name, *(each.name for each in cells)]))
            for each in cells:
                known = used.setdefault(each.name, [])
                if each not in known:
                    known.append(each)
    faults = [f"- *{fault.name}*: {fault.of}" for fault in FAULTS if fault is not OTHERS]
    words = [_explained(name, cells) for name, cells in used.items() if name != NOTHING.name]
    parts = [
        HEAD,
        "\n".join(lines) + "\n",
        "Exhibits are the modes and recipes that are broken on purpose, because they are taught.\n",
        "## What is broken\n",
        "\n".join(faults) + "\n",
        "## What may be lost, and why\n",
        "\n".join(words) + "\n",
        _holds(sound),
        _patience(sound),
    ]
    return "\n".join(parts)


def _groups(sound: Sequence[str]) -> list[tuple[str, ...]]:
    """Ways of selling that promise the same under every fault, but for how long one may wait."""
    alike: dict[tuple[Promise, ...], list[str]] = {}
    for way in (*sound, EXHIBITS[0]):
        whole = tuple(
            promise_for(way, fault, durability)
            for fault in FAULTS
            if fault is not OTHERS
            for durability in Durability
        )
        alike.setdefault(whole, []).append(way)
    return [tuple(ways) for ways in alike.values()]


def _named(ways: tuple[str, ...]) -> str:
    if ways == EXHIBITS[:1]:
        return "exhibits"
    locks = [way for way in ways if way.startswith("lock:")]
    if len(locks) > 2:
        return "locks: " + ", ".join(f"`{way.partition(':')[2]}`" for way in locks)
    return ", ".join(f"`{way}`" for way in ways)


def _by_durability(
    fault: FaultClass, groups: list[tuple[str, ...]]
) -> dict[tuple[Durability, ...], list[Promise]]:
    rows: list[tuple[list[Durability], list[Promise]]] = []
    for durability in Durability:
        cells = [promise_for(ways[0], fault, durability) for ways in groups]
        same = next((known for known, its in rows if its == cells), None)
        if same is None:
            rows.append(([durability], cells))
        else:
            same.append(durability)
    return {tuple(known): cells for known, cells in rows}


def _of(durabilities: tuple[Durability, ...]) -> str:
    if len(durabilities) == len(Durability):
        return ""
    return ", " + " or ".join(f"`{one}`" for one in durabilities)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _explained(name: str, cells: list[Promise]) -> str:
    first = cells[0]
    losses = [told for loss, told in TOLD.items() if loss in first.may]
    if first is EXHIBIT or first.may >= EXHIBIT.may:
        losses = ["any of what is promised above"]
    elif first.may >= AUDITED:
        losses = ["any of that, for the sales that were forgotten"]
    text = f"- *{name}*: {first.why}."
    if losses:
        text += f" What may be: {'; '.join(losses)}."
    reasons = dict.fromkeys(each.beyond for each in cells if each.beyond and first is not EXHIBIT)
    return " ".join([text, *(f"Other than in the matrix: {reason}." for reason in reasons)])


def _holds(sound: Sequence[str]) -> str:
    more: dict[str, list[str]] = {}
    for way, fault in product(sound, FAULTS):
        promise = holding(way, fault, Durability.SAFE)
        if promise != promise_for(way, fault, Durability.SAFE):
            more.setdefault(way, []).append(f"*{fault.name}*: {promise.name}")
    lines = [f"- `{way}`: {'; '.join(cells)}" for way, cells in more.items()]
    return HOLDS.format(more="\n".join(lines))


def _patience(sound: Sequence[str]) -> str:
    waits = [way for way in sound if promise_for(way, OTHERS, Durability.SAFE).may]
    never = [way for way in sound if way not in waits]
    return (
        "## Who may wait for ever\n\n"
        "With nothing broken, while others come again and again, a buyer may be told BUSY each\n"
        f"time in {_listed(waits)}; not in {_listed(never)}.\n"
    )


def _listed(ways: list[str]) -> str:
    return ", ".join(f"`{way}`" for way in ways)
