"""Cases about visibility: which client sees which write, and when."""

from __future__ import annotations

from app.lab.transactions.case import Case
from app.lab.transactions.sides import Postgres, Valkey
from app.text import Text


class Queued(Case):
    name = "queued"
    title = Text("Between MULTI and EXEC nothing is done")
    teaches = Text(
        "Valkey only queues what follows MULTI. PostgreSQL does each statement at once, "
        "and hides it from all others until COMMIT."
    )
    taught = (
        Text("A is answered QUEUED; B reads 3 before EXEC and 2 after it"),
        Text("A reads its own 2 at once; B reads 3 before COMMIT and 2 after it"),
    )

    def valkey(self, side: Valkey) -> str:
        a, b = side.client("A"), side.client("B")
        a("MULTI")
        answer = a("SET stock 2")
        early = b("GET stock")
        a("EXEC")
        late = b("GET stock")
        return f"A is answered {answer}; B reads {early} before EXEC and {late} after it"

    def postgres(self, side: Postgres) -> str:
        a, b = side.client("A"), side.client("B")
        a("BEGIN")
        a("UPDATE stock SET units = 2")
        own = a("SELECT units FROM stock")
        early = b("SELECT units FROM stock")
        a("COMMIT")
        late = b("SELECT units FROM stock")
        return f"A reads its own {own} at once; B reads {early} before COMMIT and {late} after it"


class ReadInside(Case):
    name = "read-inside"
    title = Text("A read inside MULTI tells nothing yet")
    teaches = Text(
        "No decision can be made on it: the value comes with EXEC's answer, when the writes are "
        "done. So read first, under WATCH. In SQL a SELECT inside the transaction answers at once; "
        "whether it still holds at COMMIT, the cases on WATCH show."
    )
    taught = (
        Text("the read is answered QUEUED; EXEC brings 3, together with the write"),
        Text("the read is answered 3, before the write"),
    )

    def valkey(self, side: Valkey) -> str:
        a = side.client("A")
        a("MULTI")
        read = a("GET stock")
        a("SET stock 2")
        value, write = a("EXEC").splitlines()
        together = "together with the write" if write == "2) OK" else f"and then {write}"
        return f"the read is answered {read}; EXEC brings {value.removeprefix('1) ')}, {together}"

    def postgres(self, side: Postgres) -> str:
        a = side.client("A")
        a("BEGIN")
        read = a("SELECT units FROM stock")
        a("UPDATE stock SET units = 2")
        a("COMMIT")
        return f"the read is answered {read}, before the write"
