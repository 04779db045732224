"""Bugs in the shop's answers at the end: its audit, its ledger, a payment's answer."""

from __future__ import annotations

from tests.integration.chaos.bug import Bug, Change

LIES = [
    Bug(
        "an audit that finds everything exact",
        "decr",
        [
            Change(
                "service/audit.py",
                "    elif oversold:\n        verdict = Verdict.OVERSOLD\n",
                "    elif settled:\n        verdict = Verdict.EXACT\n",
            )
        ],
    ),
    Bug(
        "an audit that says to be left what should be",
        "naive",  # where something else is left, mostly; and the audit is all that is promised
        [Change("service/audit.py", "left=snapshot.left,", "left=round.stock - sold - held,")],
    ),
    Bug(
        "an audit that finds sound rounds inconsistent",
        "atomic",
        [
            Change(
                "service/audit.py",
                "    else:\n        verdict = Verdict.EXACT\n",
                "    else:\n        verdict = Verdict.INCONSISTENT\n",
            )
        ],
        seeds=(2, 5, 7),  # their plans have no failover and no log cut: the store knows of no loss
    ),
    Bug(
        "booked for another buyer",
        "atomic",
        [
            Change(
                "service/booking.py",
                "                sold[id] = sales.read(names, fields)\n",
                "                from dataclasses import replace\n"
                "                order = sales.read(names, fields)\n"
                '                sold[id] = replace(order, buyer="somebody else")\n',
            )
        ],
    ),
    Bug(
        "an order's page shows the price of one unit",
        "atomic",
        [
            Change(
                "shop/order_view.py",
                '"total": money(order.price * order.quantity),',
                '"total": money(order.price),',
            )
        ],
    ),
    Bug(
        "a deadline that moves when the page is loaded",
        "atomic",
        [
            Change(
                "shop/order_view.py",
                '"pay_until": hold.until if hold else None,',
                '"pay_until": hold.now + 1_000 if hold else None,',
            )
        ],
        options=["--holds"],
    ),
    Bug(
        "a round sells before it opens",
        "atomic",
        [
            Change(
                "service/selling.py",
                "        if round.delay and order.at < round.opens:",
                "        if False:",
            )
        ],
    ),
    Bug(
        "told of a payment that no replica has",
        "atomic",
        [
            Change(
                "service/store_ledger.py",
                "                self.servers.copied(order.item, *ends)\n",
                "",
            )
        ],
        seeds=(89, 383, 367),  # of 400, their plans have the most failovers
        options=["--holds", "--durability", "replicated"],
    ),
]
