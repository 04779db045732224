"""A process for the actors' code, next to the one that searches.

Code that shares a process with the search can forge a verdict, by the descriptor of the answer or
by the objects of the search. So a search of a user's file forks a process for its actors, and asks
that process what an actor does after an answer. The file can lie about nothing else.

Questions are pickled, as they come from the search; answers are JSON, as the file may write them.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import socket
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from badluck.actor import code_warnings, user_code_error
from badluck.actor.actor import Code
from badluck.actor.request import Done, Failed, Hear, Request, Rest, Send
from badluck.errors import BadluckError
from badluck.frames.fingerprint import Fingerprint
from badluck.frames.source_position import SourceLine
from badluck.orphans import end_with_parent
from badluck.sandbox.job import UserTarget
from badluck.sandbox.limits import LIMITS, MAX_ANSWER_BYTES, Watchdog
from badluck.search.automaton import Automaton, NotDeterministic
from badluck.search.behaviour import ANY, ActorAnswer, Known, Move, Node

KINDS: dict[str, type[Request]] = {kind.__name__: kind for kind in (Hear, Rest, Done, Failed)}


class ActorProcess:
    """The search's end of the process; makes the automata for its actors."""

    def __init__(
        self,
        target: UserTarget,
        prepare: Callable[[], None],
        seconds: int,
        told: Callable[[NotDeterministic], str],
    ) -> None:
        """`prepare` is called before confinement; `told` words an error for the author."""
        self.name = target.name
        ours, theirs = socket.socketpair()
        self.process = os.fork()
        if not self.process:
            ActorServer(target, theirs, told).serve(prepare, seconds)
        theirs.close()
        self.answers, self.questions = ours.makefile("rb"), ours.makefile("wb")

    def automaton(self, name: str, code: Code, now: int) -> Known:
        return RemoteAutomaton(self, name, code, now)

    def ask(self, what: str, *given: Any) -> Any:
        """Ask the process. Raises UserCodeError, MemoryError, and BadluckError when it has died."""
        line = b""
        try:
            pickle.dump((what, given), self.questions)
            self.questions.flush()
            line = self.answers.readline(MAX_ANSWER_BYTES)
            answer = json.loads(line)
            code_warnings.SEEN.update(
                {(path, line): warning for path, line, warning in answer["warned"]}
            )
            if "wrong" in answer:
                raise user_code_error.UserCodeError(answer["wrong"])
            if "memory" in answer:
                raise MemoryError
            return answer["answer"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise self._failed(line) from error

    def _failed(self, line: bytes) -> BaseException:
        if line:
            return user_code_error.UserCodeError(
                f"{self.name} writes to the search itself: {line[:60]!r}."
            )
        _, status = os.waitpid(self.process, 0)
        ended = os.waitstatus_to_exitcode(status)
        if ended == -signal.SIGXCPU:
            return user_code_error.UserCodeError(f"{self.name} does not come to an end ({LIMITS}).")
        text = "its code ended it, or crashed in C" if ended <= 0 else "a mistake of the explorer's"
        return BadluckError(f"The process of {self.name} died ({ended}): {text}.")


class RemoteAutomaton(Automaton):
    """An actor's behaviour, as the process of the actors describes it."""

    def __init__(self, process: ActorProcess, name: str, code: Code, now: int) -> None:
        self.process, self.name, self.code = process, name, code
        self.nodes, self.live, self.counts_time = [], {}, False
        self.number, node = process.ask("begin", name, now)
        self._learn(node, -1, None)

    def find_out(
        self, at: int, fiber: int, said: Any, now: int, taken: frozenset[int] | None
    ) -> tuple[ActorAnswer, Move]:
        given = (self.number, at, fiber, said, now, taken)
        looked, drew, node, to, closed, asks_time = self.process.ask("move", *given)
        known = ActorAnswer(fiber, said, now if looked else ANY, taken if drew else None)
        if node:
            self._learn(node, at, known)
        if not 0 <= to < len(self.nodes):
            raise BadluckError(f"The process of {self.process.name} names a node that is not one.")
        return known, Move(to, tuple(closed), asks_time)

    def same_again(self, at: int, to: int, round: Sequence[ActorAnswer]) -> bool:
        return bool(self.process.ask("same_again", self.number, at, to, tuple(round)))

    def _learn(self, node: dict[str, Any], parent: int, came_by: ActorAnswer | None) -> None:
        self.counts_time |= node.pop("counts_time")
        self.nodes.append(
            Node(
                tuple(_request(*each) for each in node.pop("requests")),
                parent,
                came_by,
                tuple(Fingerprint((number,), is_whole) for number, is_whole in node.pop("looks")),
                bound=tuple(node.pop("bound")),
                stands=tuple(
                    tuple(SourceLine(*spot) for spot in each) for each in node.pop("stands")
                ),
                **node,
            )
        )


class ActorServer:
    """The actors' process itself."""

    def __init__(
        self, target: UserTarget, search: socket.socket, told: Callable[[NotDeterministic], str]
    ) -> None:
        self.target, self.search, self.told = target, search, told
        self.automata: list[Automaton] = []
        self.looks: dict[Fingerprint, int] = {}  # a number is enough to compare two for equality

    def serve(self, prepare: Callable[[], None], seconds: int) -> NoReturn:
        try:
            end_with_parent(signal.SIGKILL)
            silence(*open_descriptors(self.search.fileno()))
            prepare()
            Watchdog(self.target, self._give_up, lambda: None, seconds).begin()
            questions = self.search.makefile("rb")
            with self.target.surroundings():
                while True:
                    what, given = pickle.load(questions)  # noqa: S301  of the search
                    self._say(self._answer(what, given))
        finally:
            os._exit(1)  # the search has ended, or our code has failed

    def _answer(self, what: str, given: Any) -> dict[str, Any]:
        try:
            return {"answer": getattr(self, f"_{what}")(*given)}
        except user_code_error.UserCodeError as error:
            return {"wrong": str(error)}
        except NotDeterministic as error:
            return {"wrong": self.told(error)}
        except MemoryError:
            return {"memory": True}

    def _say(self, answer: dict[str, Any]) -> None:
        answer["warned"] = [(*spot, warning) for spot, warning in code_warnings.SEEN.items()]
        self.search.sendall(json.dumps(answer).encode() + b"\n")

    def _give_up(self, text: str) -> None:
        self._say({"wrong": text})
        os._exit(0)

    def _begin(self, name: str, now: int) -> Any:
        self.automata.append(Automaton(name, self.target.code, now))
        return len(self.automata) - 1, self._written(self.automata[-1])

    def _move(
        self, number: int, at: int, fiber: int, said: Any, now: int, taken: frozenset[int] | None
    ) -> Any:
        automaton = self.automata[number]
        before = len(automaton.nodes)
        known, move = automaton.find_out(at, fiber, said, now, taken)
        node = self._written(automaton) if len(automaton.nodes) > before else None
        return known.now != ANY, known.taken is not None, node, *move

    def _same_again(self, number: int, at: int, to: int, round: Sequence[ActorAnswer]) -> bool:
        return self.automata[number].same_again(at, to, round)

    def _lacking(self, wants: Send, text: str) -> str:
        return name_line(self.automata, wants, self.target, text)

    def _written(self, automaton: Automaton) -> dict[str, Any]:
        """Return the newest node, in the form that RemoteAutomaton reads."""
        node = automaton.nodes[-1]
        return {
            "requests": [[type(each).__name__, *_plain(each)] for each in node.requests],
            "looks": [
                (self.looks.setdefault(look, len(self.looks)), look.complete) for look in node.looks
            ],
            "inside": node.inside,
            "waits_for_threads": node.waits_for_threads,
            "tells_time": node.tells_time,
            "bound": node.bound,
            "stands": node.stands,
            "counts_time": automaton.counts_time,
        }


def name_line(automata: Sequence[Known], wants: Send, target: UserTarget, text: str) -> str:
    """Return `text` with the line that waits to send a command that the model lacks."""
    for automaton in automata:
        for actor in automaton.live.values() if isinstance(automaton, Automaton) else ():
            for fiber in actor.fibers:
                if fiber.request == wants:
                    return user_code_error.locate(fiber.frame, target.code.files, text)
    return f"{target.name}: {text}"


def _plain(request: Request) -> Sequence[Any]:
    if not isinstance(request, Send):
        return request
    words = [[word.decode("latin-1") for word in command] for command in request.commands]
    return request.connection, words


def _request(kind: str, *fields: Any) -> Request:
    if kind != Send.__name__:
        return KINDS[kind](*fields)
    connection, commands = fields
    return Send(connection, tuple(tuple(w.encode("latin-1") for w in each) for each in commands))


def open_descriptors(but: int) -> list[int]:
    """Return the open descriptors, inherited ones, too: writing there needs no permission."""
    return [number for number in map(int, os.listdir("/dev/fd")) if number != but]


def silence(*descriptors: int) -> None:
    """Redirect them to nothing: the code would print its output thousands of times."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in descriptors:
        os.dup2(nothing, descriptor)
