"""Two states are merged only if they are the same: random programs, with and without merging.

Without merging, each order of the steps is run by itself, and no frame has to be inspected.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from secrets import randbelow

import pytest
from badluck.explorer import Explorer
from badluck.faults import Faults
from badluck.frames import fingerprint
from badluck.frames.fingerprint import Fingerprint
from badluck.sandbox.program import Program
from badluck.search import automaton
from badluck.search.graph import Graph
from badluck.search.paths import ends
from programs import program

SHARE = 25  # programs
MOST = 60_000  # states
IN_A_PIPELINE = """
def run(r, name):
    r.incr("asked")
    pipe = r.pipeline(transaction=False)
    pipe.get("asked")
    pipe.get("price")
    asked, _ = pipe.execute()
    return asked == b"1"
"""

IN_A_CONTEXT = """
import contextlib

@contextlib.contextmanager
def counted(r):
    value = int(r.get("asked") or 0)
    yield
    r.set("asked", value + 1)

def run(r, name):
    with counted(r):
        r.get("price")
"""


def ended(path: Path, faults: Faults) -> Counter[object]:
    """Count the schedules by their outcomes and keys at the end."""
    explorer = Explorer(Program(path, [("SET", "stock", 1)]), 2)
    with explorer.target.surroundings():
        graph = Graph(explorer.moves, faults, explorer.target.pauses, MOST)
        graph.explore()
    counted = ends(graph)
    assert counted is not None
    found: Counter[object] = Counter()
    for number, schedules in counted.items():
        state = graph.states[number]
        told = tuple(
            place.nodes[at].outcome for place, at in zip(graph.automata, state.nodes, strict=True)
        )
        keys = sorted((key, one.value) for key, one in graph.servers.entries(state.servers).items())
        found[told, tuple(keys)] += schedules
    return found


def merged_and_not(
    path: Path, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> tuple[Counter[object], Counter[object]]:
    merged = ended(path, faults)
    with monkeypatch.context() as patched:
        patched.setattr(automaton, "fingerprint_of", lambda fiber: Fingerprint((object(),), False))
        return merged, ended(path, faults)


def test_who_is_taken_for_one_goes_on_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = randbelow(1_000_000_000)
    print(f"seeds from {seed} on")
    for nth in range(SHARE):
        path = tmp_path / f"program_{nth}.py"
        path.write_text(program(Random(seed + nth)))
        merged, apart = merged_and_not(path, Faults(lost=nth % 2), monkeypatch)
        assert merged == apart, f"seed {seed + nth}:\n{path.read_text()}"


def test_who_is_wrongly_taken_for_one_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "in_a_pipeline.py"
    path.write_text(IN_A_PIPELINE)
    merged, apart = merged_and_not(path, Faults(), monkeypatch)
    assert merged == apart
    monkeypatch.setattr(fingerprint, "KEEPING", set())
    merged, apart = merged_and_not(path, Faults(), monkeypatch)
    assert merged != apart


def test_what_only_a_context_knows_is_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No variable holds the suspended generator: only the interpreter's stack."""
    path = tmp_path / "in_a_context.py"
    path.write_text(IN_A_CONTEXT)
    merged, apart = merged_and_not(path, Faults(), monkeypatch)
    assert merged == apart
    assert len(merged) == 2, "both are counted, or one is lost"
