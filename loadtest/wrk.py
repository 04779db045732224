"""The cross-check: wrk, a load generator in C, which a Flask shop never outruns.

A Locust process reaches about half of wrk's rate on a no-op (0.56 measured on two cores), so the
fastest modes look slower and closer together than they are. Slow modes are not affected.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import as_file, files

from loadtest.generator import WARM_UP, Load, run_program

MARGIN = 30  # seconds wrk may take beyond its duration before it counts as hung


def path() -> str | None:
    """Return the path of wrk; None: it is not installed."""
    return shutil.which("wrk")


def version() -> str | None:
    """Return name and version ("wrk 4.1.0"); None: it is not installed."""
    if path() is None:
        return None
    output = subprocess.run(["wrk", "--version"], capture_output=True, text=True, timeout=10)
    return " ".join(output.stdout.split()[:2])


def goodput(load: Load) -> float:
    """Return the good answers per second by wrk, after the same warm-up as in Locust's cells.

    One thread, one keep-alive connection for each user. Raises RunFailed when wrk fails.
    """
    if load.seconds is None:
        raise ValueError("wrk measures a time, not until something is sold out")
    run(load, WARM_UP)
    counts = run(load, load.seconds)
    return counts["good"] / counts["seconds"]


def run(load: Load, seconds: float) -> dict[str, float]:
    url, wanted = (
        (f"{load.url}/buy/{load.item}", "SOLD") if load.item else (f"{load.url}/noop", "NOOP")
    )
    return ask("post.lua", url, load.buyers, seconds, wanted)


def ask(
    script: str, url: str, connections: int, seconds: float, *arguments: str
) -> dict[str, float]:
    """Run a Lua script of ours, which prints its counts as JSON at last. Raises RunFailed."""
    with as_file(files("loadtest").joinpath(script)) as path:
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds:g}s", "-s", str(path), url]
        output = run_program("wrk", [*command, "--", *arguments], seconds + MARGIN)
    counts: dict[str, float] = json.loads(output.splitlines()[-1])
    return counts
