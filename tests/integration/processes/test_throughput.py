"""`lastapple bench http` and `bench growth`, with real shops and a real generator."""

from __future__ import annotations

import json
from contextlib import chdir
from pathlib import Path

import psutil
import pytest
from servers.family import command_line

from loadtest.throughput.load import generator, send
from loadtest.throughput.servers import servers
from tests.support.command_line import run

FEW = ("--seconds", "1", "--repeats", "1")
MEMBERS = {"name", "connections", "per_s", "ratio_noop", "ratio_usual", "p50_ms", "p99_ms"}


def test_http(tmp_path: Path) -> None:
    options = ("--modes", "naive", "--connections", "4", *FEW, "--json", "-", "--html", "it.html")
    with chdir(tmp_path):
        done = run("bench", "http", *options)
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in json.loads(done.stdout)["rows"]}
    naive, sold_out = "naive (broken on purpose)", "naive, sold out (broken on purpose)"
    assert list(rows) == ["raw store", "plain no-op", "usual shop", "no-op", naive, sold_out]
    for row in rows.values():
        assert set(row) >= MEMBERS
        assert row["connections"] == 4
        assert row["per_s"] > 0
    assert rows[naive]["other_answers"] == 0, "every press had a key of its own"
    assert 0 < rows[naive]["ratio_noop"] < 1
    assert rows[naive]["cpu_us"] > rows["no-op"]["cpu_us"]
    page = (tmp_path / "it.html").read_text()
    assert "the usual shop" in page
    assert "naive (broken on purpose)" in page
    assert not [one for one in psutil.process_iter() if "throughput.usual" in command_line(one)]


def test_growth(tmp_path: Path) -> None:
    crowd = ("--contenders", "2", "--items", "3", "--orders", "100")
    with chdir(tmp_path):
        done = run("bench", "growth", *crowd, *FEW, "--json", "it.json")
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "it.json").read_text())["rows"]
    assert [(row["grows"], row["of"]) for row in rows] == [
        *(("contenders", 2), ("items", 3), ("orders in the books", 100)),
    ], "so many orders as were asked for, and not one that was sold beside"
    assert all(row["per_s"] > 0 for row in rows)
    assert "More items: sales" in (tmp_path / "bench-growth.html").read_text()


def test_without_wrk_it_asks_by_locust_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with servers() as place:
        monkeypatch.setenv("PATH", "")
        assert "Locust" in generator()
        assert send(place.usual.url, None, "NOOP", 2, 1).good > 0
        place.store.set("usual:apple:stock", 3)
        answers = send(place.usual.url, "apple", "SOLD_OUT", 2, 1)
        assert answers.good > answers.others


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("http", "--connections", "0"), "from 1 to 512"),
        (("http", "--connections", "many"), "as in 16,64"),
        (("http", "--json", "no/such/folder.json"), "no folder no/such"),
        (("growth", "--items", "7"), "from 1 to 6"),
    ],
)
def test_bad_input_is_refused_before_anything_starts(options: tuple[str, ...], said: str) -> None:
    done = run("bench", *options)
    assert done.returncode == 2
    assert said in done.stderr
