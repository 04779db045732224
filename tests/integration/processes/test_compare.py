"""`lastapple compare`: the whole command, as an engineer runs it."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from tests.support.command_line import begin, run
from tests.support.servers import until
from tests.support.shop import NewShop

ELSEWHERE = {"LAB_TOKEN": "meant for another shop"}
MEMBERS = {
    *("mode", "repeat", "stocked", "sold", "oversold", "left", "orders", "sold_out", "busy"),
    *("errors", "goodput", "p50_ms", "p99_ms", "attempts_per_sale", "round_trips_per_sale"),
    *("commands_per_sale", "ratio_noop", "generator_bound"),
}


def compare(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return run("compare", *options, "--html", folder / "compare.html", **ELSEWHERE)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_naive_oversells_and_the_others_never_do(runs: int, tmp_path: Path) -> None:
    """The soak makes ten runs of the usual size; otherwise a small one. Others: test_selling.py."""
    modes = ["naive", "watch", "lock", "atomic"] if runs > 1 else ["naive", "atomic"]
    few = () if runs > 1 else ("--buyers", "8", "--modes", ",".join(modes))
    for number in range(1, (runs + 1) // 2 + 1):
        done = compare(tmp_path, "--seconds", "1", "--repeats", "1", "--json", "-", *few)
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        rows = {row["mode"]: row for row in document["rows"]}
        print(
            f"compare, run {number}:", {mode: row["sold"] for mode, row in rows.items()}, flush=True
        )
        assert list(rows) == modes
        assert rows["naive"]["oversold"] > 0
        for mode in modes[1:]:
            row = rows[mode]
            # On a busy machine its second may end before the shelf is empty.
            assert row["sold"] == row["orders"] == row["stocked"] - row["left"] > 0
            assert row["stocked"] == 500
            assert row["oversold"] == row["errors"] == 0
        for row in rows.values():
            assert set(row) >= MEMBERS
        assert rows["atomic"]["round_trips_per_sale"] == pytest.approx(1.0, abs=0.01)
    report = (tmp_path / "compare.html").read_text()
    assert "broken on purpose" in report
    assert "<script src=" not in report, "self-contained"


def test_a_running_shop_is_named_by_url(new_shop: NewShop, tmp_path: Path) -> None:
    shop = new_shop(tmp_path / "shop")
    here = ("--url", shop.url, "--lab-url", shop.lab)
    few = ("--buyers", "8", "--seconds", "1", "--repeats", "1", "--stock", "50")
    done = compare(tmp_path, *here, *few, "--modes", "atomic")
    assert done.returncode == 0, done.stderr
    assert "atomic" in done.stdout
    refused(tmp_path, *here, "--buyers", "500", said="SHOP_THREADS")
    refused(tmp_path, *here, "--modes", "magic", said="magic")


def test_a_shop_that_is_not_there(tmp_path: Path) -> None:
    refused(tmp_path, "--url", "http://127.0.0.1:9", said="127.0.0.1:9")


def refused(folder: Path, *options: str, said: str) -> None:
    """More errors are in tests/unit/loadtest/test_compare_inputs.py."""
    done = compare(folder, *options)
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    running = begin("compare", "--html", tmp_path / "compare.html", TMPDIR=str(tmp_path))
    me = psutil.Process(running.pid)
    until(lambda: len(me.children(recursive=True)) > 6, 60)  # the shop and a generator
    family = me.children(recursive=True)
    time.sleep(1.0)  # in the middle of a cell
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=30)
    assert running.returncode == 130
    _gone, alive = psutil.wait_procs(family, 10)
    assert not alive
    assert not list(tmp_path.iterdir())
