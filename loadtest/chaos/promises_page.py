"""Write docs/promises.md from the promises (tests/unit/chaos/test_promises.py calls it)."""

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

This page says what may be lost when something breaks while people buy. Each cell of the table says
*nothing*, or a word that is explained below. `lastapple chaos` causes all of these faults while
buyers buy. Then it compares the buyers' answers, the store and the database with this page. The
page is made from [loadtest/chaos/promises.py](../loadtest/chaos/promises.py), and chaos reads the
same file. A test compares the page with [the matrix](matrix.md), in which the explorer tries
similar faults.

*Nothing* means that all of this is true once every process runs again and has caught up:

- Each buyer that got SOLD has an order. A buyer may use one idempotency key for several items, but
  one key has one order of each item, never two. The order belongs to the buyer that sent the key.
  A buyer that got only refusals has no order, and an unpaid hold never becomes an order.
- No more is sold than was stocked, and `stocked = left + held + sold`. No unit is missing, and no
  unit exists twice.
- A *hold* is units that a buyer has taken and not paid for yet. A hold ends once: it is paid,
  or its units return to the stock, never both. No payment is accepted after the hold's deadline,
  and no hold expires before it.
- No unit is sold in a round after the round has ended. Each buyer gets at most the round's limit
  per buyer. A buyer below the limit is never refused because of the limit.
- The answers are linearizable: there is one sequence of all purchases and returns of units that
  explains each answer SOLD, HELD (the buyer has a hold) and SOLD_OUT. The sequence also explains
  the units left that an answer reports. In the sequence, each purchase takes effect between its
  request and its answer.
- Each audit is exact, and the store has no mark of a loss.
- The audit reports the truth. An order belongs to the buyer that pressed *Buy*, and its page shows
  its own price and deadline. No round sells before it opens. These promises apply in every cell,
  also to exhibits.

*Nothing* does not mean that every buyer gets a definite answer. During a fault a buyer may get
BUSY (nothing was sold to this buyer) or "we cannot tell". While a server is down, it may get no
answer. The buyer has lost nothing: another request with the same key gets the result. Twenty
seconds after everything runs again, every new buyer gets a definite answer, unless the item is off
sale because the store has lost something. Only an exhibit may let buyers wait forever. With two
faults at once, only the promises that survive both faults apply.

Three promises are limited:

- `decr` first takes units, and returns them if there were too few. Before the units are
  returned, another buyer may get SOLD_OUT too early. So for `decr` this page makes no promise
  about SOLD_OUT or about the units left.
- `sql_units` does not see units that a hold returns while a buyer waits for locked rows. So for
  `sql_units`, in a round with holds, this page makes no promise about SOLD_OUT or about the units
  left.
- A lock keeps its promises only while the work under the lock is shorter than the lease. A lease of
  a few ms may be too short on any machine.
"""
HOLDS = """\
## Where buyers hold first and then pay

In a round with holds, a purchase has one more step: the payment. The answer to a payment may be
lost, too. So these cells differ from the table:

{more}

For *the store dies*, *doubt* applies to `safe` and `replicated`. With `fast` the cell stays
*forgotten*.

A mode with a lock also takes the lock to return a hold's units to the stock. A buyer that writes
after its own lease has ended may overwrite the returned units. Then units may be missing, or exist
twice. The hold itself still ends once.
[The explorer shows this loss](matrix.md#where-buyers-hold-first-and-then-pay).
"""
TOLD: dict[Loss, str] = {
    Anomaly.LOST: "the loss of an acknowledged sale",
    Anomaly.TWICE: "two orders of an item for one key",
    Anomaly.OVERSOLD: "oversold units",
    Anomaly.STRANDED: "missing units",
    Anomaly.SURPLUS: "units that exist twice",
    Anomaly.HELD_ON: "units that stay held after their deadline",
    Anomaly.UNBOOKED: "a sale that stays a dead letter",
    Anomaly.RETURNED: "a hold that is paid, and returned to the stock",
    Anomaly.DENIED: "a booked sale for a buyer that got a refusal",
    Anomaly.STRANGER: "a sale that is booked for another buyer",
    Anomaly.UNOPENED: "a sale before the round opens",
    Anomaly.MISTOLD: "a wrong price or deadline on a page",
    Anomaly.OVER_LIMIT: "a buyer above the limit",
    Anomaly.LIMITED: "a refusal below the limit",
    Anomaly.LATE: "a payment after the deadline",
    Anomaly.EARLY: "a hold that ends before its deadline",
    Anomaly.FORGOTTEN: "an ended hold that is a hold again, or a refusal of a key that has bought",
    Anomaly.AFTER_END: "a unit that is sold after the round's end",
    Anomaly.IMPOSSIBLE: "answers that are not linearizable",
    Nuisance.DOUBT: "no definite answer at once",
    Anomaly.MISJUDGED: "an audit that contradicts the books",
    Anomaly.ALARM: "an alarm of the audit or of the store that no fault explains",
    Anomaly.STUCK: "a shop in which no buyer can buy",
    Nuisance.PATIENCE: "BUSY again and again",
}
# The page's sentence that an anomaly contradicts.
SENTENCES = {
    Anomaly.LOST: "Each buyer that got SOLD has an order",
    Anomaly.TWICE: "one key has one order of each item, never two",
    Anomaly.OVERSOLD: "No more is sold than was stocked",
    Anomaly.STRANDED: "No unit is missing, and no unit exists twice",
    Anomaly.SURPLUS: "No unit is missing, and no unit exists twice",
    Anomaly.HELD_ON: "A hold ends once: it is paid, or its units return to the stock",
    Anomaly.UNBOOKED: "Each buyer that got SOLD has an order",
    Anomaly.RETURNED: "A hold ends once: it is paid, or its units return to the stock",
    Anomaly.DENIED: "A buyer that got only refusals has no order",
    Anomaly.STRANGER: "The order belongs to the buyer that sent the key",
    Anomaly.OVER_LIMIT: "Each buyer gets at most the round's limit per buyer",
    Anomaly.LIMITED: "A buyer below the limit is never refused because of the limit",
    Anomaly.LATE: "No payment is accepted after the hold's deadline",
    Anomaly.EARLY: "no hold expires before it",
    Anomaly.FORGOTTEN: "another request with the same key gets the result",
    Anomaly.AFTER_END: "No unit is sold in a round after the round has ended",
    Anomaly.MISJUDGED: "The audit reports the truth",
    Anomaly.STUCK: "every new buyer gets a definite answer",
    Anomaly.ALARM: "Each audit is exact, and the store has no mark of a loss",
    Anomaly.MISTOLD: "its page shows its own price and deadline",
    Anomaly.UNOPENED: "No round sells before it opens",
    Anomaly.IMPOSSIBLE: "The answers are linearizable",
}


def page(sound: Sequence[str]) -> str:
    """Write the page for these sound modes and the exhibits."""
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
        "Exhibits are modes and recipes that are broken on purpose, to show a mistake.\n"
        "`fast`, `safe` and `replicated` are values of the setting [DURABILITY](durability.md).\n",
        "## What is broken\n",
        "\n".join(faults) + "\n",
        "## What may be lost, and why\n",
        "\n".join(words) + "\n",
        _holds(sound),
        _patience(sound),
    ]
    return "\n".join(parts)


def _groups(sound: Sequence[str]) -> list[tuple[str, ...]]:
    """Group ways of selling that promise the same under every fault, except for their waits."""
    alike: dict[tuple[Promise, ...], list[str]] = {}
    for mode in (*sound, EXHIBITS[0]):
        promises = tuple(
            promise_for(mode, fault, durability)
            for fault in FAULTS
            if fault is not OTHERS
            for durability in Durability
        )
        alike.setdefault(promises, []).append(mode)
    return [tuple(modes) for modes in alike.values()]


def _named(modes: tuple[str, ...]) -> str:
    if modes == EXHIBITS[:1]:
        return "exhibits"
    locks = [mode for mode in modes if mode.startswith("lock:")]
    if len(locks) > 2:
        return "locks: " + ", ".join(f"`{mode.partition(':')[2]}`" for mode in locks)
    return ", ".join(f"`{mode}`" for mode in modes)


def _by_durability(
    fault: FaultClass, groups: list[tuple[str, ...]]
) -> dict[tuple[Durability, ...], list[Promise]]:
    rows: list[tuple[list[Durability], list[Promise]]] = []
    for durability in Durability:
        cells = [promise_for(modes[0], fault, durability) for modes in groups]
        same = next((known for known, its in rows if its == cells), None)
        if same is None:
            rows.append(([durability], cells))
        else:
            same.append(durability)
    return {tuple(known): cells for known, cells in rows}


def _of(durabilities: tuple[Durability, ...]) -> str:
    if len(durabilities) == len(Durability):
        return ""
    return ", " + " or ".join(f"`{durability}`" for durability in durabilities)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _explained(name: str, cells: list[Promise]) -> str:
    first = cells[0]
    losses = [words for loss, words in TOLD.items() if loss in first.may]
    if first is EXHIBIT or first.may >= EXHIBIT.may:
        losses = ["any loss"]
    elif first.may >= AUDITED:
        losses = ["any loss, but only of these sales"]
    text = f"- *{name}*: {first.why}."
    if losses:
        text += f" Possible: {'; '.join(losses)}."
    reasons = dict.fromkeys(each.beyond for each in cells if each.beyond and first is not EXHIBIT)
    return " ".join([text, *(f"{reason}." for reason in reasons)])


def _holds(sound: Sequence[str]) -> str:
    more: dict[str, list[str]] = {}
    for mode, fault in product(sound, FAULTS):
        promise = holding(mode, fault, Durability.SAFE)
        if promise != promise_for(mode, fault, Durability.SAFE):
            more.setdefault(mode, []).append(f"*{fault.name}*: {promise.name}")
    lines = [f"- `{mode}`: {'; '.join(cells)}" for mode, cells in more.items()]
    return HOLDS.format(more="\n".join(lines))


def _patience(sound: Sequence[str]) -> str:
    waits = [mode for mode in sound if promise_for(mode, OTHERS, Durability.SAFE).may]
    never = [mode for mode in sound if mode not in waits]
    return (
        "## Starvation\n\n"
        "Even without a fault, a buyer may get BUSY each time, while others buy again and again.\n"
        f"Starvation can happen in {_listed(waits)}.\n"
        f"Starvation cannot happen in {_listed(never)}.\n"
    )


def _listed(modes: list[str]) -> str:
    return ", ".join(f"`{mode}`" for mode in modes)
