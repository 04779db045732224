"""A short chaos run for `make test`: a real shop, broken by a seeded plan, keeps its promises."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import orjson

MODES = "atomic,fenced,decr,sql,lock:queue"


def test_the_promises_are_kept(tmp_path: Path) -> None:
    verdict = tmp_path / "verdict.json"
    command = [sys.executable, "-m", "app.cli", "chaos", "--seed", "11", "--json", str(verdict)]
    command += ["--minutes", "0.5", "--holds", "--modes", MODES]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert verdict.exists(), done.stderr
    found = orjson.loads(verdict.read_bytes())
    assert done.returncode == 0, found
    assert found["seed"] == 11
    assert found["sales"] > 50
    assert sum(found["hits"].values()) >= 4
