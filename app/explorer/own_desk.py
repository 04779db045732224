"""The worker process that searches or plays the user's own code for the browser.

`python -m app.explorer.own_desk`, started by app/lab/explorer/own_sell.py. It is confined like
every process that runs such code, and ends when it has answered one question.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from badluck.errors import BadluckError
from badluck.explorer import Explorer
from badluck.faults import Faults
from badluck.game.board import Board
from badluck.game.play import Impossible, play
from badluck.sandbox.worker import MAX_STATES, SandboxWorker, main
from badluck.search.state_table import TooMany

from app.explorer.desk import written
from app.explorer.student import Student

MODULE = "app.explorer.own_desk"


@dataclass(frozen=True)
class Search:
    target: Student
    buyers: int
    faults: Faults


@dataclass(frozen=True)
class Play:
    target: Student
    buyers: int
    moves: str


class OwnDesk(SandboxWorker):
    """A sandboxed worker. Its results have the form of the desk's answers (desk.py)."""

    def does(self) -> dict[str, Any]:
        job: Any = self.job
        return {"found": self._search(job) if isinstance(job, Search) else self._play(job)}

    def _search(self, job: Search) -> dict[str, Any]:
        automaton = self.automaton()
        self.watch.begin()
        with job.target.surroundings():
            explorer = Explorer(job.target, job.buyers, automaton=automaton)
            self.watch.explorer = explorer
            report = explorer.explore(job.faults, MAX_STATES)
            return written(report, Board(job.target, job.buyers, automaton=automaton))

    def _play(self, job: Play) -> dict[str, Any]:
        self.load_libraries()
        self.watch.begin()
        with job.target.surroundings():
            return self._played(job)

    def _played(self, job: Play) -> dict[str, Any]:
        try:
            played = play(Board(job.target, job.buyers), job.moves)
        except Impossible as error:
            return {"impossible": error.nth, "move": error.move}
        except TooMany as error:
            raise BadluckError("There is too much to look at on the way.") from error
        for place in played["places"]:
            for actor in place["actors"]:
                for wait in actor["waits"]:
                    wait["spots"] = [[called(job.target), line] for _, line in wait["spots"]]
        return played


def called(target: Student) -> str:
    """Return the file's name as pages use it: like a module's name, without spaces."""
    return re.sub(r"\W", "_", target.path.stem)


if __name__ == "__main__":
    from app.explorer import own_desk  # by its name: the jobs sent to it belong to that module

    main(own_desk.OwnDesk)
