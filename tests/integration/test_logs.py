"""The children's logs: they survive a start, and stay small while a child writes to them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from app.ops import logs
from app.ops.child import Child

LINE = b"x" * 99 + b"\n"


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "LARGEST", 1_000)


def test_a_log_goes_on_from_start_to_start(tmp_path: Path) -> None:
    log = tmp_path / "lab.log"
    child = Child("lab", ["echo", "hello"], log, bool, bool, stage=0, grace=5.0)
    for _ in range(2):
        child.start(os.environ)
        assert child.process
        child.process.wait(10)
    said = log.read_text().splitlines()
    assert [line.split(",")[0] for line in said] == ["--- lab starts", "hello"] * 2


def test_one_that_is_written_to_is_cut_under_its_writer(tmp_path: Path) -> None:
    log = tmp_path / "shop.log"
    with log.open("ab", buffering=0) as writer:
        for generation in range(logs.KEPT + 3):
            for _ in range(11):
                writer.write(LINE)
            writer.write(b"%d\n" % generation)
            logs.trim(log)
            assert log.stat().st_size == 0
        writer.write(b"after\n")
    assert log.read_bytes() == b"after\n", "no hole where the old lines were"
    kept = {file.name: file.read_text().splitlines()[-1] for file in tmp_path.iterdir()}
    assert kept == {"shop.log": "after", "shop.log.1": "5", "shop.log.2": "4", "shop.log.3": "3"}


def test_on_a_full_disk_nothing_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often it is tried: no older logs are pushed out, either."""

    def full(_source: Path, target: Path) -> None:
        target.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    log = tmp_path / "store.log"
    log.write_bytes(LINE * 20)
    for number in (1, 2):
        (tmp_path / f"store.log.{number}").write_text(str(number))
    monkeypatch.setattr(shutil, "copyfile", full)
    for _ in range(5):
        logs.trim(log)
    assert log.read_bytes() == LINE * 20
    kept = sorted(file.read_text() for file in tmp_path.glob("store.log.*"))
    assert kept == ["1", "2"]
