"""Cases about undoing: the effects of an error, and of a rollback."""

from __future__ import annotations

from app.lab.transactions.case import Case, fate
from app.lab.transactions.sides import Postgres, Valkey
from app.text import Text


class ErrorWhileQueuing(Case):
    name = "error-while-queuing"
    title = Text("An error while queuing")
    teaches = Text(
        "A command that Valkey cannot even queue spoils the whole transaction: EXEC refuses it. "
        "In PostgreSQL every error does so, and COMMIT then means ROLLBACK."
    )
    taught = (
        Text("EXEC answers EXECABORT; the SET before the error is not there"),
        Text("COMMIT answers ROLLBACK; the UPDATE before the error is not there"),
    )

    def valkey(self, side: Valkey) -> str:
        a, before = side.client("A"), side.stock()
        a("MULTI")
        a("SET stock 2")
        a("STE stock 1")
        verdict = a("EXEC").removeprefix("(error) ").split()[0]
        return f"EXEC answers {verdict}; the SET before the error {fate(before, side.stock())}"

    def postgres(self, side: Postgres) -> str:
        a, before = side.client("A"), side.stock()
        a("BEGIN")
        a("UPDATE stock SET units = 2")
        a("UPDTE stock SET units = 1")
        verdict = a("COMMIT")
        return f"COMMIT answers {verdict}; the UPDATE before the error {fate(before, side.stock())}"


class ErrorInsideExec(Case):
    name = "error-inside-exec"
    title = Text("An error inside EXEC")
    teaches = Text(
        "A command that can be queued but fails when it runs stops nothing and undoes nothing: "
        "MULTI is all at once, not all or nothing. In PostgreSQL it undoes the whole transaction."
    )
    taught = (
        Text("the SET before the error stands, the INCR after it stands"),
        Text("after the error even a SELECT is refused; the UPDATE before it is not there"),
    )

    def valkey(self, side: Valkey) -> str:
        a, before = side.client("A"), side.stock()
        none_sold = a("GET sold")
        a("MULTI")
        a("SET stock 2")
        a("LPUSH stock apple")
        a("INCR sold")
        a("EXEC")
        incr = fate(none_sold, a("GET sold"))
        return f"the SET before the error {fate(before, side.stock())}, the INCR after it {incr}"

    def postgres(self, side: Postgres) -> str:
        a, before = side.client("A"), side.stock()
        a("BEGIN")
        a("UPDATE stock SET units = 2")
        a("UPDATE stock SET units = 1 / 0")
        refused = "refused" if a("SELECT units FROM stock").startswith("ERROR") else "answered"
        a("COMMIT")
        return (
            f"after the error even a SELECT is {refused}; "
            f"the UPDATE before it {fate(before, side.stock())}"
        )


class Discard(Case):
    name = "discard"
    title = Text("DISCARD is no ROLLBACK")
    teaches = Text(
        "DISCARD forgets what is only queued; after EXEC there is nothing that could take it "
        "back. ROLLBACK undoes what has been done."
    )
    taught = (
        Text("DISCARD of a queued SET leaves 3; after EXEC it answers an error and leaves 2"),
        Text("the UPDATE was done, A read 2; ROLLBACK undid it, A reads 3"),
    )

    def valkey(self, side: Valkey) -> str:
        a = side.client("A")
        a("MULTI")
        a("SET stock 2")
        a("DISCARD")
        queued = a("GET stock")
        a("MULTI")
        a("SET stock 2")
        a("EXEC")
        answer = "an error" if a("DISCARD").startswith("(error)") else "OK"
        done = a("GET stock")
        return (
            f"DISCARD of a queued SET leaves {queued}; "
            f"after EXEC it answers {answer} and leaves {done}"
        )

    def postgres(self, side: Postgres) -> str:
        a = side.client("A")
        a("BEGIN")
        a("UPDATE stock SET units = 2")
        done = a("SELECT units FROM stock")
        a("ROLLBACK")
        after = a("SELECT units FROM stock")
        return f"the UPDATE was done, A read {done}; ROLLBACK undid it, A reads {after}"


class NoExec(Case):
    name = "no-exec"
    title = Text("A MULTI without an EXEC")
    teaches = Text(
        "Nothing has been done, and no other client has to wait. A BEGIN without a COMMIT is "
        "different: its work is done already, others do not see it, and the row stays locked "
        "against them (here for 100 ms at most)."
    )
    taught = (
        Text("B reads 3, and its write is answered OK: the stock is 1"),
        Text("B reads 3, and its write is answered an error: the stock is 3"),
    )

    def valkey(self, side: Valkey) -> str:
        a, b = side.client("A"), side.client("B")
        a("MULTI")
        a("SET stock 2")
        stock = b("GET stock")
        answer = b("SET stock 1")
        return f"B reads {stock}, and its write is answered {answer}: the stock is {side.stock()}"

    def postgres(self, side: Postgres) -> str:
        a, b = side.client("A"), side.client("B")
        a("BEGIN")
        a("UPDATE stock SET units = 2")
        stock = b("SELECT units FROM stock")
        b("SET lock_timeout = '100ms'")
        answer = "an error" if b("UPDATE stock SET units = 1").startswith("ERROR") else "OK"
        return f"B reads {stock}, and its write is answered {answer}: the stock is {side.stock()}"
