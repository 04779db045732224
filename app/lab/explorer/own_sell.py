"""Somebody's own file with sell(redis, buyer) in the lab's explorer, beside the modes.

Whoever starts the lab names it (LAB_SELL); nobody sends one to the lab. It is read anew for each
question: what is corrected in an editor, the next page shows. Each question has its own process.
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

PLAY_S = 25.0  # its process has to start; code that hangs is named after 2 s, all ends after 20
WAITING = 32  # questions that may be under way
KEPT = 200  # answers

Question = Search | Play
Known = tuple[str, int, object]  # of which text of the file, for how many, and what


class OwnSell:
    """Every question raises BadSell for what is wrong with the file, Unreachable for no answer."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.looking = threading.Lock()  # at what is known
        self.turns = {Search: threading.Lock(), Play: threading.Lock()}  # to have a process
        self.known: OrderedDict[Known, PendingAnswer] = OrderedDict()

    @property
    def name(self) -> str:
        return self.path.name.encode(errors="replace").decode()

    def play(self, student: Student, buyers: int, moves: str) -> dict[str, Any]:
        """As Explorer.play, with the file's `source`."""
        question = Play(student, buyers, moves)
        answer = self._answer(question, PLAY_S)
        if answer is None:
            raise Unreachable(Text("Too many schedules are played at once."))
        return answer | {"source": decode_source(student.source)}

    def search(
        self, student: Student, buyers: int, faults: Faults, seconds: float
    ) -> dict[str, Any] | None:
        """As Explorer.explored; it goes on when the seconds are over."""
        return self._answer(Search(student, buyers, faults), seconds)

    def searched(self, student: Student, buyers: int, faults: Faults) -> bool:
        """Was that asked before?"""
        with self.looking:
            return _key(Search(student, buyers, faults)) in self.known

    def read(self) -> Student:
        """The file as it is now; who answers one request reads it once."""
        student = Student(self.path)
        try:
            _ = student.source  # goes with it to its process
        except OSError as error:
            raise BadSell(f"{self.path}: {error.strerror}") from error
        return student

    def _answer(self, question: Question, seconds: float) -> dict[str, Any] | None:
        """None: it is not known yet."""
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
                self.known.pop(key, None)  # the next who asks may have better luck
            raise Unreachable(Text("The process that plays schedules died twice.")) from error


class PendingAnswer:
    """Of a process that may yet be at work."""

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
        """None: it is still at work. Raises BadSell for what is wrong with the code, ShopError."""
        self.there.wait(seconds)
        if isinstance(self.said, ShopError):
            raise self.said
        return self.said


def _key(question: Question) -> Known:
    what = question.moves if isinstance(question, Play) else question.faults
    return hashlib.sha256(question.target.source).hexdigest(), question.buyers, what
