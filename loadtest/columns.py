"""Every column of the comparison: its heading, its meaning, its limits."""

from __future__ import annotations

from dataclasses import dataclass

from figures import BOUND


@dataclass(frozen=True)
class Column:
    """One column. `name` is the member of a row; `digits` are decimals shown."""

    name: str
    heading: str
    digits: int
    means: str
    cannot: str

    def number(self, value: float) -> str:
        return f"{value:,.{self.digits}f}"


SELL_OUT = (
    Column(
        *("stocked", "stocked", 0),
        "Units put on sale, from the round's record.",
        "Anything about the sale: it is what was asked for.",
    ),
    Column(
        *("sold", "sold", 0),
        "Distinct orders found in the store's stream and the database, with their quantities.",
        "Whether the customer ever read the answer: a sale counts when it is written.",
    ),
    Column(
        *("oversold", "oversold", 0),
        "Sold − stocked, if positive: customers who will be disappointed.",
        "That a mode is sound. Zero here means not seen in this run, under this load.",
    ),
    Column(
        *("left", "left", 0),
        "Units still in stock at the end.",
        "Why they are left: buyers may have given up (BUSY), or the cell ended too early.",
    ),
    Column(
        *("orders", "orders", 0),
        "Rows in the database once the audit had settled.",
        "How long they took to get there.",
    ),
    Column(
        *("sold_out", "sold-out answers", 0),
        "Buyers told that nothing is left: the right answer, no failure.",
        "Demand: closed-loop buyers ask again as fast as they are answered.",
    ),
    Column(
        *("busy", "busy answers", 0),
        "Buyers sent away while stock remained, because attempts or patience ran out.",
        "Whether they would have come back: these do so at once.",
    ),
    Column(
        *("errors", "errors", 0),
        "Answers that are none of the above, and connections that failed.",
        "Which: the shop's own log says more.",
    ),
)

COST = (
    Column(
        *("goodput", "goodput, sales/s", 0),
        "SOLD answers per second of the measured window, by Locust.",
        "Whether there was a unit to sell: what an exhibit oversells counts here too.",
    ),
    Column(
        *("p50_ms", "p50, ms", 1),
        "Half of the SOLD answers took no longer.",
        "How long those waited who were not sold anything, or who arrive in an open workload.",
    ),
    Column(
        *("p99_ms", "p99, ms", 1),
        "99 of 100 SOLD answers took no longer.",
        "Fairness: a few buyers may wait far longer, or always be the ones who lose.",
    ),
    Column(
        *("attempts_per_sale", "attempts/sale", 2),
        "Attempts, polls for a lock among them, of all answers ÷ SOLD answers.",
        "What an attempt costs: one of watch takes several round trips, a poll takes one.",
    ),
    Column(
        *("round_trips_per_sale", "round trips/sale", 2),
        "Times the selling process waited for the store, over all answers ÷ SOLD answers.",
        "Their length: on one machine a round trip is cheap, over a network it is the price.",
    ),
    Column(
        *("commands_per_sale", "commands/sale", 2),
        "Commands sent to the store, over all answers ÷ SOLD answers; a script counts as one.",
        "What the server does for each of them: one script may run many commands inside.",
    ),
    Column(
        *("ratio_atomic", "÷ atomic", 2),
        "Goodput ÷ that of atomic in the same repeat: what is left of the speed of one script.",
        "How fast atomic itself is; withheld when either was generator-bound.",
    ),
    Column(
        *("ratio_noop", "÷ no-op", 2),
        "Goodput ÷ no-op POSTs per second in the same repeat: what is left of bare HTTP.",
        "Which server is faster: a faster one has a faster no-op and a lower ratio.",
    ),
    Column(
        *("generator_cpu", "generator, cores", 2),
        f"CPU time of the Locust process ÷ the window's length; above {BOUND}: generator-bound.",
        "The load of the other cores. With few cores, shop and generator compete below "
        f"{BOUND} too.",
    ),
    Column(
        *("wrk_goodput", "goodput by wrk", 0),
        "The same cost cell again with wrk, for the fastest modes and generator-bound rows.",
        "Latency and round trips: those are Locust's. A dash: wrk did not measure this mode.",
    ),
    Column(
        *("wrk_ratio_noop", "÷ no-op by wrk", 2),
        "Goodput by wrk ÷ no-op POSTs per second by wrk, in the same repeat.",
        "The same as Locust: each generator leaves the shop another share of the cores.",
    ),
)

COLUMNS = SELL_OUT + COST
