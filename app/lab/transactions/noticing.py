"""Cases in which another client writes in between."""

from __future__ import annotations

from app.lab.transactions.case import Case
from app.lab.transactions.sides import Postgres, Valkey
from app.text import Text


class WatchNotices(Case):
    name = "watch-notices"
    title = Text("WATCH notices, it does not prevent")
    teaches = Text(
        "WATCH does not stop other clients from writing. It only makes EXEC refuse, and A has "
        "to begin again. SQL can prevent the write: SELECT … FOR UPDATE makes others wait "
        "(here for 100 ms at most)."
    )
    taught = (
        Text("B's write in between is answered OK; A's EXEC answers (nil), and B's 1 stands"),
        Text(
            "B's write in between is answered an error; A's COMMIT answers COMMIT, and A's 2 stands"
        ),
    )

    def valkey(self, side: Valkey) -> str:
        a, b = side.client("A"), side.client("B")
        a("WATCH stock")
        a("GET stock")
        between = b("SET stock 1")
        a("MULTI")
        a("SET stock 2")
        verdict, after = a("EXEC"), side.stock()
        return _what_stands(between, f"A's EXEC answers {verdict}", after)

    def postgres(self, side: Postgres) -> str:
        a, b = side.client("A"), side.client("B")
        a("BEGIN")
        a("SELECT units FROM stock FOR UPDATE")
        b("SET lock_timeout = '100ms'")
        between = "an error" if b("UPDATE stock SET units = 1").startswith("ERROR") else "OK"
        a("UPDATE stock SET units = 2")
        verdict, after = a("COMMIT"), side.stock()
        return _what_stands(between, f"A's COMMIT answers {verdict}", after)


def _what_stands(between: str, end: str, stock: str) -> str:
    whose = {"1": "B's", "2": "A's"}.get(stock, "nobody's")
    return f"B's write in between is answered {between}; {end}, and {whose} {stock} stands"


class SameValue(Case):
    name = "same-value"
    title = Text("Noticing is about writes, not about values")
    teaches = Text(
        "B writes the very number that is there already. EXEC refuses all the same: WATCH looks "
        "at whether anybody wrote. SQL notices in the same way from REPEATABLE READ upwards."
    )
    taught = (
        Text("the stock is 3 as before, and A's EXEC answers (nil) all the same"),
        Text("the stock is 3 as before, and A's UPDATE answers an error all the same"),
    )

    def valkey(self, side: Valkey) -> str:
        a, b = side.client("A"), side.client("B")
        a("WATCH stock")
        before = a("GET stock")
        b("SET stock 3")
        now = side.stock()
        a("MULTI")
        a("SET stock 2")
        verdict = a("EXEC")
        return f"the stock is {now} {_as(before, now)}, and A's EXEC answers {verdict} all the same"

    def postgres(self, side: Postgres) -> str:
        a, b = side.client("A"), side.client("B")
        a("BEGIN ISOLATION LEVEL REPEATABLE READ")
        before = a("SELECT units FROM stock")
        b("UPDATE stock SET units = 3")
        now = side.stock()
        answer = a("UPDATE stock SET units = 2")
        verdict = "an error" if answer.startswith("ERROR") else answer
        a("ROLLBACK")
        return (
            f"the stock is {now} {_as(before, now)}, and A's UPDATE answers {verdict} all the same"
        )


def _as(before: str, now: str) -> str:
    return "as before" if before == now else f"(it was {before})"


class Unwatch(Case):
    name = "unwatch"
    title = Text("UNWATCH forgets what was watched")
    teaches = Text(
        "EXEC asks only about what is watched at that moment. After UNWATCH nothing is, nor after "
        "EXEC or DISCARD: a write in between goes unnoticed. In SQL, ROLLBACK gives up the lock, "
        "and with it the protection."
    )
    taught = (
        Text("B's write in between is answered OK; A's EXEC answers OK, and A's 2 stands"),
        Text(
            "B's write in between is answered UPDATE 1; A's COMMIT answers COMMIT, and A's 2 stands"
        ),
    )

    def valkey(self, side: Valkey) -> str:
        a, b = side.client("A"), side.client("B")
        a("WATCH stock")
        a("GET stock")
        between = b("SET stock 1")
        a("UNWATCH")
        a("MULTI")
        a("SET stock 2")
        verdict, after = a("EXEC").removeprefix("1) "), side.stock()
        return _what_stands(between, f"A's EXEC answers {verdict}", after)

    def postgres(self, side: Postgres) -> str:
        a, b = side.client("A"), side.client("B")
        a("BEGIN")
        a("SELECT units FROM stock FOR UPDATE")
        a("ROLLBACK")
        between = b("UPDATE stock SET units = 1")
        a("BEGIN")
        a("UPDATE stock SET units = 2")
        verdict, after = a("COMMIT"), side.stock()
        return _what_stands(between, f"A's COMMIT answers {verdict}", after)
