"""The process in which a user's own code runs: a job from standard input, an answer to output.

`python -m badluck.sandbox.worker`, started by client.py. A job is pickled: it comes from the
process that started this one. An answer is JSON: it comes from a process in which foreign code has
run.
"""

from __future__ import annotations

import json
import os
import pickle
import re
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any, NoReturn

from badluck.actor import user_code_error
from badluck.actor.actor import Code
from badluck.actor.command_text import decoded
from badluck.actor.request import Send
from badluck.backend import Backend
from badluck.errors import BadluckError
from badluck.explorer import Explorer
from badluck.real_server.backend import real_backend
from badluck.report.model_backend import ModelBackend
from badluck.report.replay import replay
from badluck.report.report import Report
from badluck.sandbox.actor_process import ActorProcess, name_line, silence
from badluck.sandbox.job import ExploreJob, Job, ReplayJob
from badluck.sandbox.limits import MEMORY_BYTES, SEARCH_S, Watchdog
from badluck.sandbox.user_file import UserFile
from badluck.search.automaton import Automaton, NotDeterministic
from badluck.search.behaviour import Known
from badluck.search.server_states import UnsupportedCommand

ADDRESS = re.compile(rb" at 0x[0-9a-f]{6}|^\d{14,15}$")  # repr() and id() of an object
MAX_STATES = 500_000  # states that fit into the memory


@dataclass
class SandboxWorker:
    job: Job
    output: int  # a file descriptor
    nonce: bytes = b""  # begins the answer: other output does not know it
    actors: ActorProcess | None = None

    def run(self) -> NoReturn:
        target = self.job.target
        job = self.job
        seconds = job.seconds if isinstance(job, ExploreJob) else SEARCH_S
        self.watch = Watchdog(
            target, lambda text: self.answer({"wrong": text}), self._too_long, seconds
        )
        try:
            self.answer(self.does())
        except user_code_error.UserCodeError as error:
            self.answer({"wrong": str(error)})
        except UnsupportedCommand as lacks:
            self.answer({"wrong": self._lacking(lacks)})
        except NotDeterministic as error:
            self.answer({"wrong": self._otherwise(error)})
        except MemoryError:
            self._incomplete(f"more than {MEMORY_BYTES >> 30} GiB of memory")
        except BadluckError as error:
            self.answer({"failed": str(error)})

    def does(self) -> dict[str, Any]:
        if isinstance(self.job, ExploreJob):
            return self._explore(self.job)
        if isinstance(self.job, ReplayJob):
            return self._replay(self.job)
        raise NotImplementedError  # functions/schedule_check.py does it

    def _too_long(self) -> NoReturn:
        self._incomplete(f"more than {self.watch.deadline} s, with all that is to be said of it")

    def _incomplete(self, takes: str) -> NoReturn:
        """Report an incomplete search and exit; the states found so far are not judged."""
        job, explorer = self.job, self.watch.explorer
        text = f"The search takes {takes}."
        if not isinstance(job, ExploreJob) or explorer is None or not explorer.seen:
            self.answer({"wrong": f"{job.target.name}: {text}"})
        report = Report(
            job.target,
            job.actors,
            self.faults,
            exhaustive=False,
            schedules=None,
            states=explorer.seen,
            seconds=self.watch.seconds,
            findings=[],
            causes=[text],
        )
        self.answer({"report": report.document()})

    def automaton(self) -> Callable[[str, Code, int], Known]:
        """Return a maker of actors' automata; a file's actors get a process of their own."""
        target = self.job.target
        if not isinstance(target, UserFile):
            return Automaton
        self.actors = ActorProcess(target, self.load_libraries, self.watch.search, self._otherwise)
        return self.actors.automaton

    def _explore(self, job: ExploreJob) -> dict[str, Any]:
        automaton = self.automaton()
        self.watch.begin()
        with job.target.surroundings():
            explorer = Explorer(job.target, job.actors, automaton=automaton)
            self.watch.explorer = explorer
            for self.faults in job.ladder:
                report = explorer.explore(self.faults, MAX_STATES)
                if report.findings or not report.exhaustive or self.watch.over:
                    break
        return {"report": report.document()}

    def _replay(self, job: ReplayJob) -> dict[str, Any]:
        self.load_libraries()
        with ExitStack() as stack:
            where: Backend = ModelBackend()
            ends: list[int] = []
            if job.folder:
                many = len(job.target.setup())
                where = real = stack.enter_context(real_backend(job.folder, many, job.program))
                real.connect_ahead(sum(map(len, job.traces.values())))
                ends = [server.process for server in real.servers]
            self.watch.begin(ends)  # the server has its own limits
            played = {}
            for name, steps in job.traces.items():
                both = replay(job.target, job.names, steps, where)
                played[name] = [[step.expected._asdict(), step.got._asdict()] for step in both]
        return {"played": played}

    def _lacking(self, lacks: UnsupportedCommand) -> str:
        """Name the line that waits to send that command."""
        wants = Send(lacks.connection, lacks.commands)
        if self.actors:
            return str(self.actors.ask("lacking", wants, str(lacks)))
        automata = self.watch.explorer.automata if self.watch.explorer else []
        return name_line(automata, wants, self.job.target, str(lacks))

    def load_libraries(self) -> None:
        """Import its libraries, where the code will run in this process."""
        if isinstance(self.job.target, UserFile):
            self.job.target.load_libraries()

    def _otherwise(self, error: NotDeterministic) -> str:
        return f"{self.job.target.name}: {self.job.target.function} {_otherwise(error)}"

    def answer(self, document: dict[str, Any]) -> NoReturn:
        """Write the answer and end at once: no explored code runs any more."""
        with os.fdopen(self.output, "wb") as to:
            to.write(self.nonce + json.dumps(document).encode())
        os._exit(0)


def _otherwise(error: NotDeterministic) -> str:
    """Describe the first difference between two runs with the same replies."""
    once, again = error.once, error.again
    text = "does not do the same when it is answered the same: on what does it depend?"
    if isinstance(once, Send) and isinstance(again, Send):
        words = (chain.from_iterable(request.commands) for request in (once, again))
        pairs = ((before or b"", after or b"") for before, after in zip_longest(*words))
        before, after = next(((a, b) for a, b in pairs if a != b), (b"", b""))
        text += f" It sent {decoded(before)!r:.80}, and now {decoded(after)!r:.80}."
        if ADDRESS.search(before) and ADDRESS.search(after):
            text += " That is where an object lies in memory."
    where = [user_code_error.line_of(*spot) for spot in error.spots]
    return "\n    ".join([text, *where])


def main(kind: type[SandboxWorker] = SandboxWorker) -> NoReturn:
    """Run the worker of this or a derived kind."""
    job, nonce = pickle.loads(sys.stdin.buffer.read())  # noqa: S301  see above
    output = os.dup(1)
    silence(0, 1)
    kind(job, output, nonce).run()


if __name__ == "__main__":
    main()
