"""The SQL modes' statements in every order, on a real PostgreSQL."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from badluck.report.trace import Step

from app.domain import ShopError
from app.explorer.sql.database import prepare
from app.explorer.sql.explore import at_level
from app.explorer.sql.orders import Orders
from app.explorer.sql.stage import MakeMode, Stage
from app.explorer.sql.statement import Footprint, Level
from app.explorer.targets import Target
from app.modes import MODES
from tests.integration.explorer.sql_exhibits import Crossed, LostUpdate
from tests.support.servers import PostgresServer

RC, RR, SERIALIZABLE = Level
IN_SQL = ("sql", "sql_lock", "sql_version", "sql_units")
BUSY, SOLD, SOLD_OUT = "BUSY", "SOLD", "SOLD_OUT"


@pytest.fixture(scope="module")
def url(postgres: PostgresServer) -> str:
    url = postgres.database()
    prepare(url)
    return url


@contextmanager
def staged(
    url: str, name: str, level: Level, mode: MakeMode | None = None, stock: int = 1
) -> Iterator[Stage]:
    with Stage(url, level, Target(name, stock), mode or MODES[name]) as stage:
        yield stage


def graph(stage: Stage) -> Orders:
    orders = Orders(stage, 2_000, lambda: False)
    orders.explore()
    return orders


def rows(steps: list[Step]) -> list[tuple[str, str, str, str, int | str]]:
    """Return the steps in short; the actor of the first step is called A."""
    names = dict(zip(dict.fromkeys(step.actor for step in steps), "AB", strict=True))
    return [
        (
            *(names[step.actor], step.lines[0].split()[0], "; ".join(step.replies)),
            *(step.outcome, step.shown["stock"]),
        )
        for step in steps
    ]


@pytest.mark.parametrize(
    ("name", "level", "schedules", "told"),
    [
        ("sql", RC, 36, {(SOLD, SOLD_OUT): 36}),
        ("sql", RR, 36, {(SOLD, SOLD_OUT): 2, (BUSY, SOLD): 34}),
        ("sql", SERIALIZABLE, 36, {(SOLD, SOLD_OUT): 2, (BUSY, SOLD): 34}),
        ("sql_lock", RC, 66, {(SOLD, SOLD_OUT): 66}),
        ("sql_lock", RR, 66, {(SOLD, SOLD_OUT): 2, (BUSY, SOLD): 64}),
        ("sql_lock", SERIALIZABLE, 66, {(SOLD, SOLD_OUT): 2, (BUSY, SOLD): 64}),
        ("sql_version", RC, 9_086, {(SOLD, SOLD_OUT): 9_086}),
        ("sql_version", RR, 9_086, {(SOLD, SOLD_OUT): 1_430, (BUSY, SOLD): 7_656}),
    ],
)
def test_nothing_goes_wrong_in_any_order(
    url: str, name: str, level: Level, schedules: int, told: dict[tuple[str, ...], int]
) -> None:
    with staged(url, name, level) as stage:
        found = at_level(stage)
    assert found.exhaustive
    assert (found.schedules, found.outcomes) == (schedules, Counter(told))
    assert not found.findings
    assert any(step.replies == ["BLOCKS"] for step in found.blocks)


def test_one_waits_for_the_other_and_goes_on_after_its_commit(url: str) -> None:
    with staged(url, "sql_lock", RC) as stage:
        blocks = at_level(stage).blocks
    assert rows(blocks) == [
        ("A", "BEGIN", "", "", 1),
        ("A", "SELECT", "units 1, ended false", "", 1),
        ("B", "BEGIN", "", "", 1),
        ("B", "SELECT", "BLOCKS", "", 1),
        ("A", "SELECT", "no row", "", 1),
        ("A", "UPDATE", "UPDATE 1", "", 1),
        ("A", "INSERT", "INSERT 0 1", "", 1),
        ("A", "INSERT", "INSERT 0 1", "", 1),
        ("A", "COMMIT", "", SOLD, 0),
        ("B", "SELECT", "units 0, ended false", "", 0),
        ("B", "SELECT", "no row", "", 0),
        ("B", "COMMIT", "", SOLD_OUT, 0),
    ]


def test_who_finds_all_rows_locked_waits_to_hear_what_becomes_of_them(url: str) -> None:
    """And nothing goes wrong in any order."""
    with staged(url, "sql_units", RC) as stage:
        found = at_level(stage)
    assert found.exhaustive
    assert found.outcomes == Counter({(SOLD, SOLD_OUT): 3_696})
    assert not found.findings
    assert [row[1:] for row in rows(found.blocks) if row[0] == "B"] == [
        ("BEGIN", "", "", 1),
        ("SELECT", "no row", "", 1),  # SKIP LOCKED
        ("SELECT", "no row", "", 1),
        ("COMMIT", "", "", 1),
        ("BEGIN", "", "", 1),
        ("SELECT", "BLOCKS", "", 1),
        ("SELECT", "no row", "", 0),
        ("SELECT", "no row", "", 0),
        ("SELECT", "ended false", "", 0),
        ("COMMIT", "", SOLD_OUT, 0),
    ]


@pytest.mark.soak
def test_who_skips_locked_rows_waits_for_nobody_while_there_are_others(url: str, runs: int) -> None:
    """The soak runs all orders; otherwise those of 60 runs."""
    with staged(url, "sql_units", RC, stock=2) as stage:
        found = at_level(stage, most=60 if runs == 1 else 2_000)
    assert found.outcomes == (Counter({(SOLD, SOLD): 12_870}) if found.exhaustive else Counter())
    assert found.exhaustive == (runs > 1)
    assert not found.findings
    assert not found.blocks


def test_the_search_knows_every_order_that_there_is(url: str) -> None:
    """Each order is run by itself, from beginning to end: the same number of them, with the same
    ends.
    """
    with staged(url, "sql", RR) as stage:
        found = at_level(stage)
        told: Counter[tuple[str, ...]] = Counter()
        todo: list[list[int]] = [[]]
        while todo:
            with stage.order():
                taken = todo.pop()
                for buyer in taken:
                    stage.go(buyer)
                while choices := stage.choices():
                    todo += [[*taken, other] for other in choices[1:]]
                    taken = [*taken, choices[0]]
                    stage.go(choices[0])
                told[tuple(sorted(stage.outcomes()))] += 1
    assert told == found.outcomes


def test_orders_at_random_go_as_the_search_says(url: str) -> None:
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    chance = random.Random(seed)
    with staged(url, "sql_version", RR) as stage:
        orders = graph(stage)
        for _ in range(15):
            at = 0
            with stage.order():
                while choices := stage.choices():
                    buyer = chance.choice(choices)
                    assert stage.go(buyer).step == orders.rows[at, buyer]
                    at = next(way.to for way in orders.edges[at] if way.actor == buyer)
                assert stage.outcomes() == orders.states[at].outcomes


def test_a_lost_update_is_found_and_the_shortest_is_drawn(url: str) -> None:
    with staged(url, "sql", RC, LostUpdate) as stage:
        found = at_level(stage)
    worst = found.findings[0]
    assert (worst.name, worst.cost) == ("oversell", (0, 2, 10))
    assert rows(worst.trace) == [
        ("A", "BEGIN", "", "", 1),
        ("A", "SELECT", "units 1", "", 1),
        ("B", "BEGIN", "", "", 1),
        ("B", "SELECT", "units 1", "", 1),
        ("B", "UPDATE", "UPDATE 1", "", 1),
        ("B", "INSERT", "INSERT 0 1", "", 1),
        ("B", "COMMIT", "", SOLD, 0),
        ("A", "UPDATE", "UPDATE 1", "", 0),
        ("A", "INSERT", "INSERT 0 1", "", 0),
        ("A", "COMMIT", "", SOLD, 0),
    ]


@pytest.mark.parametrize("level", [RR, SERIALIZABLE])
def test_the_same_is_prevented_from_repeatable_read_upwards(url: str, level: Level) -> None:
    with staged(url, "sql", level, LostUpdate) as stage:
        found = at_level(stage)
    assert not found.findings
    assert set(found.outcomes) == {(SOLD, SOLD_OUT), (BUSY, SOLD)}


def test_two_that_wait_for_each_other_are_parted_by_the_server(url: str) -> None:
    with staged(url, "sql", RC, Crossed) as stage:
        orders = graph(stage)
    said = {at: " ".join(step.replies) for at, step in orders.rows.items()}
    parted = [at for at, line in said.items() if line.startswith("ERROR 40P01: deadlock detected")]
    assert {loser for _, loser in parted} == {0, 1}
    for at, loser in parted:
        assert orders.states[at].choices == (loser,), "the other waits: this one closed the circle"
        assert orders.rows[at, loser].does == "goes", "and was told so at once"
        (after,) = (way.to for way in orders.edges[at] if way.actor == loser)
        assert orders.states[after].choices == (1 - loser,), "the other goes on before all else"
    assert any(line.startswith("ERROR 23505: duplicate key") for line in said.values())


def test_what_is_one_by_mistake_is_noticed(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """If dependent steps were taken for independent ones, two runs would differ."""
    monkeypatch.setattr(Footprint, "concerns", lambda *_: False)
    with staged(url, "sql", RC) as stage, pytest.raises(ShopError, match="differ"):
        graph(stage)


def test_more_than_it_may_look_at(url: str) -> None:
    with staged(url, "sql", RC) as stage:
        found = at_level(stage, most=3)
    assert (found.exhaustive, found.schedules, found.runs) == (False, None, 3)


def test_it_stops_when_told_to(url: str) -> None:
    with staged(url, "sql", RC) as stage, pytest.raises(KeyboardInterrupt):
        at_level(stage, stopped=lambda: True)
