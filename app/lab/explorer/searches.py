"""The explorer for a browser: searches that may take long, and schedules that are played at once.

Each has a process of its own (search_process.py): one searches, the other plays.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from badluck.faults import Faults
from badluck.game.board import MAX_FAULTS as MAX_FAULTS  # for the views, too

from app.domain import Invalid
from app.explorer import targets
from app.explorer.errors import BadSell as BadSell
from app.explorer.errors import Unreachable as Unreachable
from app.explorer.student import Student
from app.lab.explorer.own_sell import OwnSell
from app.lab.explorer.search_process import ExplorerProcess, Gone
from app.service.catalogue import parse_way
from app.service.refusals import not_from_to
from app.text import Text

BUYERS = (2, 3)  # at the least and at the most: so many columns have room on a screen
USUAL = Faults(crash=1, pause=1)  # the default, as at a terminal
PLAY_S = 5.0  # an answer takes some hundredths
SEARCH_S = 45.0  # it stops by itself after 30
OWN = "own"  # in place of a mode: LAB_SELL
WAITING = 32  # requests that may wait for a turn, and searches that may be queued
KEPT = 500  # answers
LIVES = 2  # the process may die so often with one question, before we give up


class Wanted(NamedTuple):
    """A wanted exploration; hashable."""

    target: str  # mode, or mode:recipe; or OWN
    buyers: int
    faults: Faults
    own: Student | None = None  # the user's own code at the time of the request

    @classmethod
    def read(cls, name: str, values: Mapping[str, str], own: Student | None = None) -> Wanted:
        """Read an address: `values` may have buyers, and how many of each fault. Raises Invalid.

        `own` is the user's code that OWN stands for.
        """
        if own is None:
            name = parse_way(name).name
            targets.check(name)
        buyers = _number(values, "buyers", BUYERS, BUYERS[0])
        faults = {
            kind: _number(values, kind, (0, MAX_FAULTS), usual)
            for kind, usual in USUAL._asdict().items()
        }
        return cls(name, buyers, Faults(**faults), own)

    @property
    def usual(self) -> bool:
        """Whether this is a target's usual search, without options.

        There are as many as targets.
        """
        return (self.buyers, self.faults) == (BUYERS[0], USUAL)

    def with_faults(self, used: Mapping[str, int]) -> Wanted:
        """Return the same with at least these faults allowed."""
        more = {kind: max(limit, used[kind]) for kind, limit in self.faults._asdict().items()}
        return self._replace(faults=Faults(**more))


def _number(values: Mapping[str, str], name: str, bounds: tuple[int, int], usual: int) -> int:
    text = values.get(name, str(usual))
    low, high = bounds
    if not (text.isascii() and text.isdigit() and len(text) < 3 and low <= int(text) <= high):
        raise Invalid({name: not_from_to(name, low, high)})
    return int(text)


@dataclass
class Explored:
    """A search's result.

    `report`: as `lastapple explore --json` writes it; None: the process died.
    """

    report: dict[str, Any] | None


class Explorer:
    """The explorer of one server; its threads, or greenlets, may all use it."""

    def __init__(self, own: Path | None = None) -> None:
        """`own` is a file with sell(redis, buyer)."""
        self.own = OwnSell(own) if own else None
        self.player, self.searcher = ExplorerProcess(PLAY_S), ExplorerProcess(SEARCH_S)
        self.turn = threading.Lock()  # to play
        self.waiting = 0
        self.played: OrderedDict[tuple[str, int, str], dict[str, Any]] = OrderedDict()
        self.looking = threading.Lock()  # held to read the searcher's answer
        self.queue: list[Wanted] = []  # the first is being searched
        self.asked = False  # whether the searcher has got the first
        self.lives = LIVES
        self.found: OrderedDict[Wanted, Explored] = OrderedDict()

    def explorable(self) -> list[str]:
        """Return the targets (`mode` or `mode:recipe`) with a model, in teaching order."""
        return targets.explorable()

    def called(self, target: str) -> str:
        """Return a target's name in a heading."""
        return self.own.name if self.own and target == OWN else target

    def wanted(self, name: str, values: Mapping[str, str]) -> Wanted:
        """Read an address as Wanted.read.

        Raises BadSell when the user's own file cannot be read.
        """
        return Wanted.read(name, values, self.own.read() if self.own and name == OWN else None)

    def play(self, wanted: Wanted, moves: str) -> dict[str, Any]:
        """Play a schedule; return places and choices, or `impossible` (see badluck/game/play.py).

        For the user's own code, the result has its `source`, too. Raises Unreachable, and BadSell
        for errors in the user's own code.
        """
        if self.own and wanted.own:
            return self.own.play(wanted.own, wanted.buyers, moves)
        key = wanted.target, wanted.buyers, moves
        if key not in self.played:
            question = {"do": "play", "target": key[0], "buyers": key[1], "moves": moves}
            with self._turn():
                self.played[key] = self._ask(question)
            if len(self.played) > KEPT:
                self.played.popitem(last=False)
        return self.played[key]

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if self.waiting >= WAITING or not self._wait_for_turn():
            raise Unreachable(Text("Too many schedules are played at once."))
        try:
            yield
        finally:
            self.turn.release()

    def _wait_for_turn(self) -> bool:
        self.waiting += 1
        try:
            return self.turn.acquire(timeout=PLAY_S)
        finally:
            self.waiting -= 1

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        for _ in range(LIVES):
            try:
                self.player.ask(question)
                while (answer := self.player.answer(PLAY_S)) is None:
                    pass
                return answer
            except Gone:
                continue
        raise Unreachable(Text("The process that plays schedules died twice."))

    def unasked(self, wanted: Wanted) -> bool:
        """Return whether this is an unusual search that was not started.

        Results may expire (KEPT).
        """
        if self.own and wanted.own:
            is_searched = self.own.searched(wanted.own, wanted.buyers, wanted.faults)
            return not (wanted.usual or is_searched)
        return not (wanted.usual or wanted in self.found or wanted in self.queue)

    def seen(self, wanted: Wanted, seconds: float) -> Explored | None:
        """Return the same as `explored`, but start only a usual search."""
        return None if self.unasked(wanted) else self.explored(wanted, seconds)

    def explored(self, wanted: Wanted, seconds: float) -> Explored | None:
        """Return a search's result; None when it has not finished in `seconds`.

        Then ask again: the search continues. Raises Unreachable when too many are waiting.
        """
        if self.own and wanted.own:
            report = self.own.search(wanted.own, wanted.buyers, wanted.faults, seconds)
            return Explored(report) if report else None
        until = time.monotonic() + seconds
        while True:
            with self.looking:
                self._look(wanted)
                if wanted in self.found:
                    return self.found[wanted]
            left = until - time.monotonic()
            if left <= 0:
                return None
            time.sleep(min(left, 0.05))

    def _look(self, wanted: Wanted) -> None:
        """Read the searcher's answer, if there is one, and give it the next search."""
        if wanted not in self.found and wanted not in self.queue:
            if len(self.queue) >= WAITING:
                raise Unreachable(Text("Too many searches are asked for at once."))
            self.queue.append(wanted)
        while self.queue:
            first = self.queue[0]
            try:
                if not self.asked:
                    self.searcher.ask(
                        {
                            "do": "search",
                            "target": first.target,
                            "buyers": first.buyers,
                            "faults": first.faults._asdict(),
                        }
                    )
                    self.asked = True
                answer = self.searcher.answer(0)
            except Gone:
                self.asked = False
                self.lives -= 1
                if self.lives:
                    continue
                self._note(first, None)
                continue
            if answer is None:
                return
            self._note(first, answer)

    def _note(self, wanted: Wanted, report: dict[str, Any] | None) -> None:
        self.found[wanted] = Explored(report)
        self.queue.remove(wanted)
        self.asked, self.lives = False, LIVES
        if len(self.found) > KEPT:
            self.found.popitem(last=False)

    def close(self) -> None:
        """End both processes."""
        self.player.close()
        self.searcher.close()
