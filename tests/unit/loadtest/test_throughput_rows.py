"""Ratios are taken within a repeat, each against the right no-op."""

from __future__ import annotations

from loadtest.throughput.rows import NOOP, PLAIN, RAW, USUAL, Measurement, document, rows


def cell(name: str, repeat: int, per_s: float, **more: float) -> Measurement:
    times = {"p50_ms": 5.0, "p99_ms": 9.0, "cpu_us": 100.0} | more
    return Measurement(name, 64, repeat, per_s, 0, under_way=16, **times)


CELLS = [
    *(cell(PLAIN, 1, 1_000), cell(PLAIN, 2, 4_000)),
    *(cell(USUAL, 1, 500), cell(USUAL, 2, 1_000)),
    *(cell(NOOP, 1, 2_000, p99_ms=3.0), cell(NOOP, 2, 2_000, p99_ms=3.0)),
    *(cell("atomic", 1, 1_500, cpu_us=150.0), cell("atomic", 2, 1_000, cpu_us=50.0)),
    Measurement(RAW, 64, 1, 9_000, 0, None, None, None, 64),
]


def test_each_row_is_held_against_its_own_servers_noop_in_the_same_repeat() -> None:
    made = {row.name: row for row in rows(CELLS)}
    assert list(made) == [PLAIN, USUAL, NOOP, "atomic", RAW]
    assert made[USUAL].figure("per_s", "noop") == (0.25, 0.375, 0.5)
    assert made["atomic"].figure("per_s", "noop") == (0.5, 0.625, 0.75)
    assert made["atomic"].figure("per_s", "usual") == (1.0, 2.0, 3.0)
    assert made[RAW].figure("per_s", "usual") == (18.0, 18.0, 18.0)


def test_the_document_has_medians_and_says_what_it_does_not_know() -> None:
    said = {row["name"]: row for row in document(rows(CELLS))}
    atomic = said["atomic"]
    assert (atomic["per_s"], atomic["min"], atomic["max"]) == (1_250, 1_000, 1_500)
    assert (atomic["ratio_noop"], atomic["ratio_usual"]) == (0.625, 2.0)
    assert (atomic["p99_ratio_noop"], atomic["cpu_ratio_usual"]) == (3.0, 1.0)
    assert said[RAW]["p99_ms"] is said[RAW]["cpu_us"] is None


def test_a_way_is_held_against_those_who_sell_so_elsewhere() -> None:
    measured = [cell("plain WATCH loop", 1, 50), cell("watch", 1, 200), cell("lock:queue", 1, 9)]
    made = {row.name: row for row in rows(measured)}
    assert made["watch"].figure("per_s", "peer") == (4.0, 4.0, 4.0)
    assert made["lock:queue"].figure("per_s", "peer") is None


def test_without_the_yardstick_there_is_no_ratio() -> None:
    (row,) = rows([cell("atomic", 1, 10)])
    assert row.figure("per_s", "usual") is row.figure("per_s", "noop") is None
