"""Starts the load generator: one fresh process a cell.

A process of its own keeps Locust's patched sockets out of this one, starts every cell with an
empty memory, and makes "the generator's CPU" a plain fact: all that this process used.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, dataclass

from loadtest import RunFailed
from loadtest.window import LoadFigures

WARM_UP = 1  # seconds before the window opens: connections, the first imports, the first round
QUIET = 2  # a sell-out cell ends this many seconds after the last SOLD answer …
SELL_OUT_LIMIT = 60  # … or after this many in all
LAST_ANSWERS_S = 10  # for the last answers to come in: twice a round's default wait

# s that the process may take beyond the load itself before it counts as hung.
MARGIN = 60


@dataclass(frozen=True)
class Load:
    """The load of one cell. `seconds` is the measured window; None: until it is sold out.

    `item` is what to buy; None sends no-op POSTs. `wanted`: each request has a key of its own, and
    answers with this outcome count, without a look at the rest; "": SOLD or NOOP, read in full.
    """

    url: str
    buyers: int
    item: str | None = None
    seconds: float | None = None
    wanted: str = ""


def generate(load: Load) -> LoadFigures:
    """Send the load and return what the answers add up to. Blocks.

    Raises RunFailed when the process dies or hangs.
    """
    command = [sys.executable, "-m", "loadtest.cell", json.dumps(asdict(load))]
    limit_s = (load.seconds or SELL_OUT_LIMIT) + WARM_UP + LAST_ANSWERS_S + MARGIN
    return LoadFigures(**json.loads(run_program("The load generator", command, limit_s)))


def run_program(
    name: str, command: list[str], limit_s: float, env: dict[str, str] | None = None
) -> str:
    """Return what a program prints. Raises RunFailed when it fails or takes longer.

    It has a session of its own: Ctrl-C reaches this process only, which then ends that one.
    """
    try:
        done = subprocess.run(
            command,
            env=env,
            capture_output=True,
            text=True,
            timeout=limit_s,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired as late:
        raise RunFailed(f"{name} did not finish within {limit_s:g} s.") from late
    if done.returncode:
        output = (done.stderr or done.stdout).strip() or f"exit status {done.returncode}"
        raise RunFailed(f"{name} failed: {output.splitlines()[-1]}")
    return done.stdout
