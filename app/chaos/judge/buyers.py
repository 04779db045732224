"""Whose the orders are: one cookie is one buyer in the books, and two are two."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from app.chaos.history import Entry
from app.chaos.judge.story import Purchase, Story
from app.chaos.judge.wrong import Finding, Wrong
from app.chaos.words import Deed


def strangers(whole: Story) -> Iterator[Finding]:
    """Orders that are booked for another buyer than the one whose cookie pressed.

    Which name in the books is whose nobody tells: it is that under which most of a cookie's orders
    stand, and only one cookie's.
    """
    entries = defaultdict[tuple[str, str], list[tuple[Purchase, Entry]]](list)
    for purchase in whole.purchases.values():
        if cookie := _cookie(purchase):
            for entry in purchase.entries:
                entries[cookie, entry.buyer].append((purchase, entry))
    counts = Counter({pair: len(its) for pair, its in entries.items()})
    owners, names = set[str](), {""}  # "" is nobody's
    for (cookie, name), _ in counts.most_common():
        if cookie not in owners and name not in names:
            owners.add(cookie)
            names.add(name)
            continue
        for purchase, entry in entries[cookie, name]:
            yield Finding(
                Wrong.STRANGER,
                *(entry.item, entry.round, 1),
                f"{purchase.buyer} pressed, and it is booked for somebody else.",
                *(purchase.key, purchase.numbers),
            )


def _cookie(purchase: Purchase) -> str:
    """With which all of its presses were sent; "" when there is no such one."""
    sent = {op.called.cookie for op in purchase.did(Deed.BUY)}
    return sent.pop() if len(sent) == 1 else ""
