"""The lab's comparisons and `lastapple compare` use the same names."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime

from app.lab.comparison import presentation as compared
from loadtest.report import document
from tests.unit.comparison.comparisons import comparison, result
from tests.unit.loadtest import real_comparison

BOTH = {
    *("mode", "exhibit", "repeat", "sold", "oversold", "left", "busy", "errors", "goodput"),
    *("p50_ms", "p99_ms", "generator_cpu", "generator_bound"),
}


def test_one_name_for_one_thing() -> None:
    real = real_comparison.comparison()
    ended = datetime(2026, 11, 21, 8, tzinfo=UTC)
    typed = asdict(document(real.machine, real.options, real.rows, real.yardsticks, ended))
    asked = compared.document(comparison(result("watch", 40), ended=1_700_000_000_000))
    assert typed["options"].keys() - asked.keys() == {"url"}
    assert typed["rows"][0].keys() & asdict(asked["runs"][0]).keys() == BOTH
    assert datetime.fromisoformat(typed["ended_at"]) == ended
    assert datetime.fromisoformat(asked["ended_at"] or "").tzinfo is UTC
    same = {"workers", "threads", "store", "appendfsync", "database", "cores"}
    same |= {"durability"}
    assert typed["machine"].keys() & asdict(asked["machine"]).keys() == same
