"""The user's own file with sell(redis, buyer) in the lab's explorer, next to the modes.

The person who starts the lab names the file (LAB_SELL); no client can send one. It is read again
for each question: after a correction in the editor, the next page shows it. Each question has its
own process.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from importlib.util import decode_source
from pathlib import Path
from typing import Any

from badluck.faults import Faults
from badluck.sandbox.client import run_job

from app.domain import ShopError
from app.explorer.errors import BadSell, Unreachable, in_the_shops_words
from app.explorer.own_desk import MODULE, Play, Search
from app.explorer.student import Student
from app.text import Text

PLAY_S = 25.0  # its process has to start; hanging code is reported after 2 s, all ends after 20
WAITING = 32  # questions that may be under way
KEPT = 200  # answers

Question = Search | Play
Known = tuple[str, int, object]  # the file's text, the number of buyers, the question


class OwnSell:
    """Answers questions about the file. Each raises BadSell if the file is wrong.

    Each raises Unreachable if there is no answer.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.looking = threading.Lock()  # at what is known
        self.turns = {Search: threading.Lock(), Play: threading.Lock()}  # to have a process
        self.known: OrderedDict[Known, PendingAnswer] = OrderedDict()

    @property
    def name(self) -> str:
        return self.path.name.encode(errors="replace").decode()

    def play(self, student: Student, buyers: int, moves: str) -> dict[str, Any]:
        """Play a schedule as Explorer.play does, with the file's `source`."""
        question = Play(student, buyers, moves)
        answer = self._answer(question, PLAY_S)
        if answer is None:
            raise Unreachable(Text("Too many schedules are played at once."))
        return answer | {"source": decode_source(student.source)}

    def search(
        self, student: Student, buyers: int, faults: Faults, seconds: float
    ) -> dict[str, Any] | None:
        """Search as Explorer.explored does; the search continues when the seconds are over."""
        return self._answer(Search(student, buyers, faults), seconds)

    def searched(self, student: Student, buyers: int, faults: Faults) -> bool:
        """Return whether that search was started before."""
        with self.looking:
            return _key(Search(student, buyers, faults)) in self.known

    def read(self) -> Student:
        """Read the file as it is now; one request reads it once."""
        student = Student(self.path)
        try:
            _ = student.source  # read now: it is sent to the process
        except OSError as error:
            raise BadSell(f"{self.path}: {error.strerror}") from error
        return student

    def _answer(self, question: Question, seconds: float) -> dict[str, Any] | None:
        """Return the answer; None: it is not known yet."""
        key = _key(question)
        with self.looking:
            if key not in self.known:
                if sum(not answer.there.is_set() for answer in self.known.values()) >= WAITING:
                    raise Unreachable(Text("Too many searches are asked for at once."))
                self.known[key] = PendingAnswer(question, self.turns[type(question)])
            if len(self.known) > KEPT:
                self.known.popitem(last=False)
            answer = self.known[key]
        try:
            return answer.within(seconds)
        except BadSell:
            raise
        except ShopError as error:
            with self.looking:
                self.known.pop(key, None)  # so that the next request tries again
            raise Unreachable(Text("The process that plays schedules died twice.")) from error


class PendingAnswer:
    """The answer of a process that may still be at work."""

    def __init__(self, question: Question, turn: threading.Lock) -> None:
        self.question = question
        self.turn = turn
        self.said: dict[str, Any] | ShopError | None = None
        self.there = threading.Event()
        threading.Thread(target=self._ask, daemon=True).start()

    def _ask(self) -> None:
        try:
            with self.turn, in_the_shops_words():
                self.said = run_job(self.question, MODULE)["found"]
        except ShopError as error:
            self.said = error
        except OSError as error:  # this machine has no room for another process
            self.said = ShopError(str(error))
        finally:
            self.there.set()

    def within(self, seconds: float) -> dict[str, Any] | None:
        """Return the answer; None: the process is still at work.

        Raises BadSell for errors in the code, ShopError.
        """
        self.there.wait(seconds)
        if isinstance(self.said, ShopError):
            raise self.said
        return self.said


def _key(question: Question) -> Known:
    what = question.moves if isinstance(question, Play) else question.faults
    return hashlib.sha256(question.target.source).hexdigest(), question.buyers, what
