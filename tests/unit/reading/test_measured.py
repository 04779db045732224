"""The measured cost is what `lastapple compare` wrote, or there is none; nothing is made up."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from figures import Spread

from app.lab import sources as reading
from app.lab.sources.measured import NAME, Cost, cost
from loadtest.report import document
from tests.unit.loadtest.real_comparison import comparison

ENDED = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
Written = dict[str, Any]


@pytest.fixture
def written() -> Written:
    """Return the document of a real run: naive, watch, lock, atomic, three times."""
    real = comparison()
    return asdict(document(real.machine, real.options, real.rows, real.yardsticks, ENDED))


def keep(folder: Path, said: Written) -> None:
    (folder / NAME).write_text(json.dumps(said))


def test_least_median_and_most_of_its_repeats(tmp_path: Path, written: Written) -> None:
    keep(tmp_path, written)
    found = cost("watch", tmp_path).measured
    assert found
    goodput = sorted(row["goodput"] for row in written["rows"] if row["mode"] == "watch")
    assert found.figures["goodput"] == Spread(*goodput)
    assert (found.ended, found.repeats, found.buyers, found.store) == (
        ENDED,
        3,
        32,
        "Valkey 9.1.2",
    )


def test_a_document_that_mentions_combining_is_read(tmp_path: Path, written: Written) -> None:
    keep(tmp_path, written)
    found = cost("watch", tmp_path)
    written["machine"]["combine"] = written["options"]["combine"] = True
    keep(tmp_path, written)
    assert cost("watch", tmp_path) == found


def test_lock_alone_is_lock_lease(tmp_path: Path, written: Written) -> None:
    keep(tmp_path, written)
    assert cost("lock", tmp_path) == cost("lock:lease", tmp_path)
    assert cost("lock", tmp_path).measured


def test_what_was_not_measured_has_no_figures(tmp_path: Path, written: Written) -> None:
    assert cost("watch", tmp_path) == Cost(str(tmp_path / NAME), None)
    keep(tmp_path, written)
    found = cost("decr", tmp_path)
    assert found.measured is None
    assert found.others == ("naive", "watch", "lock:lease", "atomic")


def test_a_figure_that_was_withheld_in_a_repeat_is_left_out(
    tmp_path: Path, written: Written
) -> None:
    written["rows"][1]["ratio_atomic"] = None
    keep(tmp_path, written)
    found = cost("watch", tmp_path).measured
    assert found
    assert "ratio_atomic" not in found.figures
    assert "ratio_noop" in found.figures


@pytest.mark.parametrize(
    "spoil",
    [
        lambda said: said.pop("ended_at"),  # of a version that did not record the time
        lambda said: said.update(ended_at="yesterday"),
        lambda said: said.pop("machine"),
        lambda said: said.update(rows=5),
        lambda said: said["rows"][1].update(goodput="fast"),
        lambda said: said["rows"][1].pop("p99_ms"),
        lambda said: said["options"].update(buyers=None),
    ],
)
def test_another_file_is_not_believed(
    tmp_path: Path, written: Written, spoil: Callable[[Written], object]
) -> None:
    spoil(written)
    keep(tmp_path, written)
    found = cost("watch", tmp_path)
    assert (found.measured, found.unreadable) == (None, True)


@pytest.mark.parametrize("content", [b"", b"{not json", b"[1]", b"\xff\xfe", b"null", b"{}"])
def test_nor_is_what_is_no_document(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    assert cost("watch", tmp_path).unreadable


def test_a_folder_in_its_place_is_none(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    assert reading.page("watch", tmp_path).cost.unreadable
