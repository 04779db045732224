"""A statement's drawn text, and its effect on other statements."""

from __future__ import annotations

import pytest

from app.explorer.sql import statement_text
from app.explorer.sql.statement import Footprint, Level, Transaction, end, of

RC, RR, SERIALIZABLE = Level
MINE = {"item_1": "apple", "round_1": 1, "started_1": 5, "units_1": 2, "key_1": "k"}
WHERE = (
    "WHERE stock.item = %(item_1)s::VARCHAR AND stock.round = %(round_1)s::INTEGER "
    "AND stock.started = %(started_1)s::BIGINT"
)
LOOK = f"SELECT stock.units \nFROM stock \n{WHERE}"
LOCK = f"{LOOK} FOR UPDATE"
SET = "UPDATE stock SET units=%(units_1)s::INTEGER"
WRITE = " ".join([SET, WHERE, "AND NOT stock.ended"])
FREE = 'AND units."order" IS NULL ORDER BY units.n LIMIT 1 FOR UPDATE SKIP LOCKED'
RECEIPT = "INSERT INTO receipts (item, key) VALUES (%(item_1)s::VARCHAR, %(key_1)s::VARCHAR)"


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        (LOOK, "SELECT units FROM stock"),
        (LOCK, "SELECT units FROM stock FOR UPDATE"),
        (WRITE, "UPDATE stock SET units=2 WHERE NOT ended"),
        (" ".join([SET, WHERE, "RETURNING x"]), "UPDATE stock SET units=2 RETURNING x"),
        (
            " ".join(["SELECT units.n FROM units", WHERE.replace("stock", "units"), FREE]),
            'SELECT n FROM units WHERE "order" IS NULL ORDER BY n LIMIT 1 FOR UPDATE SKIP LOCKED',
        ),
        (
            "SELECT orders.id, orders.item, orders.at, orders.key FROM orders",
            "SELECT … FROM orders",
        ),
        (RECEIPT, "INSERT INTO receipts VALUES ('apple', 'k')"),
        (
            "INSERT INTO orders (a, b, c, d) VALUES (%(key_1)s, 1, 2, 3)",
            "INSERT INTO orders VALUES ('k', 1, 2, …)",
        ),
    ],
)
def test_statements_for_people(sql: str, shown: str) -> None:
    assert statement_text.statement(sql, MINE) == shown


def steps(level: Level, *sql: str) -> list[Footprint]:
    """Return the steps of one transaction: BEGIN, those, COMMIT."""
    transaction = Transaction(level)
    statements = [of("SELECT set_config", {}, level)]
    statements += [of(one, MINE, level) for one in sql]
    return [transaction.step(one, failed=False) for one in [*statements, end("COMMIT")]]


@pytest.mark.parametrize(
    ("level", "mine", "theirs", "concerns"),
    [
        # Uncommitted writes are invisible; after the COMMIT a reader sees them …
        (RC, 1, 1, False),
        (RC, 1, 3, True),
        (RC, 0, 3, False),
        # … or, from REPEATABLE READ upwards, a transaction that begins then.
        (RR, 0, 3, True),
        (RR, 0, 1, False),
        # SERIALIZABLE depends on reads of what another writes, and on the order of the commits.
        (SERIALIZABLE, 1, 1, True),
        (SERIALIZABLE, 2, 0, True),
        (RR, 2, 0, False),
        # Another table has no effect.
        (RC, 1, 2, False),
    ],
)
def test_who_reads_and_who_writes(level: Level, mine: int, theirs: int, concerns: bool) -> None:
    """`mine` is a step of BEGIN, SELECT, COMMIT; `theirs` one of BEGIN, UPDATE, INSERT, COMMIT."""
    reader, writer = steps(level, LOOK), steps(level, WRITE, RECEIPT)
    assert reader[mine].concerns(writer[theirs]) is concerns
    assert writer[theirs].concerns(reader[mine]) is concerns


def test_locks_concern_each_other_until_their_end() -> None:
    holder, other = steps(RC, LOCK), steps(RC, WRITE, RECEIPT)
    assert [holder[1].concerns(one) for one in other] == [False, True, False, True]
    assert [holder[2].concerns(one) for one in other] == [False, True, False, True]


def test_a_statement_that_fails_ends_its_transaction() -> None:
    transaction = Transaction(RC)
    transaction.step(of(WRITE, MINE, RC), failed=False)
    failed = transaction.step(of(RECEIPT, MINE, RC), failed=True)
    assert {"stock", "receipts"} <= failed.ends
    assert not transaction.step(end("ROLLBACK"), failed=False).ends
