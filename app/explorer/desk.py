"""The worker process of the browser's explorer: reads a question a line, writes an answer a line.

`python -m app.explorer.desk`, started by app/lab/explorer/search_process.py. It patches the whole
process with the buyers' surroundings (`Target.surroundings`), so it must not be the lab's process.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from collections import OrderedDict
from typing import Any

from badluck.explorer import Explorer
from badluck.faults import Faults
from badluck.game.board import Board
from badluck.game.play import Impossible, play, spelled
from badluck.report.report import Report
from badluck.search.state_table import TooMany

from app.explorer.targets import Target

MEMORY = 1 << 30  # bytes of address space
SEARCH = 30  # s; after that no more states are explored
BOARDS = 6  # kept: a player who continues finds the states learned so far

Question = dict[str, Any]


class Desk:
    def __init__(self) -> None:
        self.boards: OrderedDict[tuple[str, int], Board] = OrderedDict()

    def answer(self, question: Question) -> dict[str, Any]:
        """Answer a question: {"do": "play" or "search", "target", "buyers", ...}."""
        target, buyers = Target(question["target"]), question["buyers"]
        with target.surroundings():
            if question["do"] == "search":
                return self.search(target, buyers, Faults(**question["faults"]))
            try:
                return self.play(target, buyers, question["moves"])
            except Impossible as error:
                return {"impossible": error.nth, "move": error.move}

    def play(self, target: Target, buyers: int, moves: str) -> dict[str, Any]:
        try:
            return play(self.board(target, buyers), moves)
        except TooMany:  # a new board has room again
            del self.boards[target.name, buyers]
            return play(self.board(target, buyers), moves)

    def board(self, target: Target, buyers: int) -> Board:
        key = target.name, buyers
        if key not in self.boards:
            self.boards[key] = Board(target, buyers)
        self.boards.move_to_end(key)
        if len(self.boards) > BOARDS:
            self.boards.popitem(last=False)
        return self.boards[key]

    def search(self, target: Target, buyers: int, faults: Faults) -> dict[str, Any]:
        """Return a report, with each schedule as it is written in a link."""
        explorer = Explorer(target, buyers)
        signal.signal(signal.SIGALRM, lambda *_: explorer.stop())
        signal.setitimer(signal.ITIMER_REAL, SEARCH)
        try:
            report = explorer.explore(faults)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        return written(report, Board(target, buyers))  # a new board: the kept one may be full


def written(report: Report, board: Board) -> dict[str, Any]:
    """Return a report for the lab, with each schedule as it is written in a link."""
    findings = [
        {"name": finding.name, "cost": list(finding.cost), "moves": spelled(board, finding.trace)}
        for finding in report.findings
    ]
    return report.document() | {"findings": findings}


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the lab handles it, and ends us
    output = os.dup(1)
    os.dup2(2, 1)  # so that a stray print() writes no answer
    desk = Desk()
    with os.fdopen(output, "wb") as to:
        for line in sys.stdin.buffer:
            to.write(json.dumps(desk.answer(json.loads(line))).encode() + b"\n")
            to.flush()


if __name__ == "__main__":
    main()
