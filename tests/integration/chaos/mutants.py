"""`make chaos-mutants`: plant each bug in a copy of the shop, and let chaos find it in a minute."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import orjson

from loadtest.chaos.judge.judge import Verdict
from tests.integration.chaos.bug import ROOT, Bug, plant
from tests.integration.chaos.planted_bugs import BUGS

MINUTES = "0.8"  # of play; with its start and its judge, a minute


def copied(folder: Path) -> Path:
    """Copy the needed parts of the clone into `folder`; return its app/."""
    for name in ("app", "migrations"):
        shutil.copytree(
            ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules")
        )
    return folder / "app"


def chaos(folder: Path, bug: Bug, seed: int) -> dict[str, Any]:
    """Run chaos with the copy's code; return its report."""
    command = [sys.executable, "-m", "app.cli", "chaos", "--minutes", MINUTES]
    command += ["--seed", str(seed), "--modes", bug.modes, "--json", "-", *bug.options]
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        check=False,
    )
    if done.returncode not in (0, 1) or not done.stdout:
        raise SystemExit(f"chaos could not be run: {done.stderr.decode()}")
    said: dict[str, Any] = orjson.loads(done.stdout)
    return said


def found(bug: Bug) -> bool:
    with tempfile.TemporaryDirectory(prefix="lastapple-planted-") as name:
        folder = Path(name)
        plant(bug, copied(folder))
        for seed in bug.seeds:
            begun = time.monotonic()
            told = chaos(folder, bug, seed)
            took = time.monotonic() - begun
            wrong = ", ".join(sorted({one["wrong"] for one in told["broken"]}))
            why = wrong or "; ".join(told["unsure"])
            print(f"{bug.name}: seed {seed}, {took:.0f} s: {told['verdict']} ({why})", flush=True)
            if told["verdict"] == Verdict.BROKEN:  # an inconclusive run finds nothing
                return True
    return False


def main(names: list[str]) -> int:
    """Try the bugs whose names contain one of `names`, or all; return the exit status."""
    chosen = [bug for bug in BUGS if not names or any(name in bug.name for name in names)]
    missed = [bug.name for bug in chosen if not found(bug)]
    print(f"{len(chosen) - len(missed)} of {len(chosen)} planted bugs were found.")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
