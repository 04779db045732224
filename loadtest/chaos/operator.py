"""The shop's operator: starts and ends rounds in the lab, audits them, and repairs losses."""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from app.domain import ITEMS
from loadtest import RunFailed
from loadtest.chaos.history import Recorder, RoundAudit, RoundEnded, RoundStarted
from loadtest.chaos.plan import PlannedRound
from loadtest.chaos.state_reader import StateReader
from loadtest.lab import request

PATIENCE = 5.0  # s for one answer of the lab
AGAIN = 0.1  # s between two tries
TRIES = 50  # to read a round that has begun
LOOKS = 20  # at a settled round, until it does not change for as long as an audit takes


class Operator:
    """Uses the lab by HTTP, and the command line where there is no other way.

    `gone` says when the run must end: then nothing is tried any more, and None is returned.
    """

    def __init__(
        self,
        port: int,
        environ: Mapping[str, str],
        recorder: Recorder,
        gone: Callable[[], bool],
        finder: StateReader,
    ) -> None:
        self.port, self.environ, self.recorder, self.gone = port, environ, recorder, gone
        self.finder = finder
        self.newest: dict[str, int] = {}  # item -> number of its last round
        self.begun: dict[tuple[str, int], RoundStarted] = {}
        self.asked: dict[str, int] = {}  # item -> since when (ns) a round of it may have begun
        self.accepting = threading.Lock()
        self.losses = itertools.count()  # repaired or accepted

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Return (status, document); status 0 without an answer."""
        try:
            return request(f"http://127.0.0.1:{self.port}", method, path, body, PATIENCE)
        except RunFailed:
            return 0, None

    def take_over(self, items: tuple[str, ...]) -> None:
        """End the rounds that a new shop has begun by itself: they are not ours to judge."""
        for item in items:
            self.newest[item] = 0
            status, running = self.ask("GET", f"/rounds/{item}")
            if status == 200:
                self.newest[item] = int(running["round"])
                self.ask("POST", f"/rounds/{item}/end")

    def start(self, item: str, played: PlannedRound, until: float) -> int | None:
        """Begin a round, with any number of tries; None after `until` (s of time.monotonic())."""
        wanted = {
            **{"item": item, "mode": played.mode, "stock": played.stock},
            **{"think_ms": played.think, "lease_ms": played.lease, "wait_ms": played.wait},
            **{"per_buyer": played.limit, "hold_ms": played.hold},
            "delay_ms": played.delay,
        }
        self.asked.setdefault(item, time.monotonic_ns())
        unheard = False  # whether a requested round may still begin
        while time.monotonic() < until and not self.gone():
            status, document = self.ask("POST", "/rounds", wanted)
            if status == 201:
                return self._began(document, unheard)
            unheard |= status == 0 or status >= 500
            if status == 409:  # a loss: the item sells nothing until it is accepted
                self.accept(item)
            # Whatever the answer, or without one: it may have begun, or one requested before.
            status, document = self.ask("GET", f"/rounds/{item}")
            if status == 200 and document["round"] > self.newest[item]:
                return self._began(document, unheard)
            time.sleep(AGAIN)
        return None

    def _began(self, newest: dict[str, Any], unheard: bool) -> int:
        """Record this round, and those before it whose start was not answered; return its number.

        Each is recorded as the lab describes it, not as it was requested.
        """
        item, number = str(newest["item"]), int(newest["round"])
        called, answered = self.asked.pop(item), time.monotonic_ns()
        if unheard:
            self.asked[item] = answered
        for each in range(self.newest[item] + 1, number + 1):
            terms = newest if each == number else self._terms(item, each)
            if terms is None:
                continue  # no such round: after a loss, numbers are skipped
            if (item, self.newest[item]) in self.begun:
                self.recorder.note(RoundEnded(called, item, self.newest[item], answered))
            may = (terms["hold_ms"] or None, terms["per_buyer"] or None)
            begun = RoundStarted(
                *(called, answered, item, each, terms["stock"], terms["mode"], *may),
                *(ITEMS[item].price, terms["delay_ms"]),
            )
            self.recorder.note(begun)
            self.begun[item, each] = begun
            self.newest[item] = each
        return number

    def _terms(self, item: str, number: int) -> dict[str, Any] | None:
        """Return the lab's document of a round; None: there is none, or no answer."""
        for _ in range(TRIES):
            status, document = self.ask("GET", f"/rounds/{item}/{number}")
            if status == 200:
                terms: dict[str, Any] = document
                return terms
            if status == 404:
                return None
            time.sleep(AGAIN)
        return None

    def end(self, item: str, until: float) -> None:
        called = time.monotonic_ns()
        while time.monotonic() < until and not self.gone():
            status, _ = self.ask("POST", f"/rounds/{item}/end")
            if status in (200, 404, 409):  # 409: it has ended already
                if (item, self.newest[item]) in self.begun:
                    answered = time.monotonic_ns()
                    self.recorder.note(RoundEnded(called, item, self.newest[item], answered))
                return
            time.sleep(AGAIN)

    def settled(self, item: str, number: int, until: float) -> RoundAudit | None:
        """Return a round's last audit; None when the store has lost the round.

        A loss is accepted, as a person would: until then the item's holds do not end.
        """
        last, looks, marked = None, 0, False
        while time.monotonic() < until and not self.gone():
            status, audit = self.audit(item, number)
            if audit:
                if audit.marked and not marked:
                    marked = True
                    self.accept(item)
                    continue  # a repair changes figures
                last = replace(audit, marked=marked)
                looks += audit.settled
                still = audit.found_held is not None
                held = audit.found_held if still else audit.held
                if audit.settled and (still or looks >= LOOKS) and not held:
                    break  # (holds may still run out)
            elif status == 409:
                self.accept(item)
            elif status == 404:
                break
            time.sleep(AGAIN)
        return last

    def audit(
        self, item: str, number: int, called: int | None = None
    ) -> tuple[int, RoundAudit | None]:
        """Return the status of one audit, and the audit; `called` as RoundAudit has it."""
        mode = self.begun[item, number].mode
        before = self.finder.look(item, number, mode)
        status, document = self.ask("GET", f"/rounds/{item}/{number}/audit")
        if status != 200:
            return status, None
        after = self.finder.look(item, number, mode)
        still = after if after == before else None
        audit = RoundAudit(
            *(time.monotonic_ns(), item, number, document["stocked"], document["left"]),
            *(document.get("held", 0), document["sold"]),
            *(document["settled"], document["verdict"]),
            found_left=still.left if still else None,
            found_held=still.held if still else None,
            marked=bool(after and after.marked),
            called=called,
            mended=bool(after and after.mended),
        )
        return status, audit

    def audit_meanwhile(self, item: str, number: int) -> RoundAudit | None:
        """Audit a round while buyers buy, and record the audit."""
        _, audit = self.audit(item, number, time.monotonic_ns())
        if audit:
            self.recorder.note(audit)
        return audit

    def has_lost(self, item: str, number: int) -> bool:
        """Return whether the store has lost the round, or something of it."""
        status, _ = self.ask("GET", f"/rounds/{item}/{number}/audit")
        units = self.finder.look(item, number, self.begun[item, number].mode)
        return status in (404, 409) or (units is not None and units.marked)

    def accept(self, item: str) -> None:
        """Repair what the store has lost of an item, or accept it, in turn.

        As a person at a terminal does; a loss that cannot be repaired is accepted.
        """
        command = [sys.executable, "-m", "app.cli", "audit", item]
        ways = [("--repair", "--yes"), ("--accept",)]
        with self.accepting:  # once, even if several lanes find it
            for way in ways[next(self.losses) % 2 :]:
                done = subprocess.run(
                    [*command, *way], env=dict(self.environ), capture_output=True, timeout=60
                )
                if done.returncode == 0:
                    break
