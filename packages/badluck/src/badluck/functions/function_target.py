"""Functions of a project as a target: each actor's function, and the rules that must hold."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

from greenlet import GreenletExit

from badluck.actor import async_connection, process_patches, user_code_error
from badluck.actor.actor import Actor, Files
from badluck.actor.command_text import CommandText, decoded
from badluck.actor.connection import RESENDS, SENDS_ONCE, client
from badluck.actor.request import RAISED
from badluck.actor.user_code_error import UserCodeError
from badluck.findings.endless_wait import STUCK
from badluck.findings.exception_rule import EXCEPTION
from badluck.findings.inferred_lock_rules import DELETED_BY_ANOTHER, LEAKED, TWO_HOLDERS
from badluck.functions.answers import format_answer
from badluck.functions.calling_module import refuse_changed
from badluck.functions.client_tuple import as_argument, numbered_key
from badluck.functions.inline_server import InlineServer, InvariantCheck, Stores
from badluck.functions.linearizability import BEGIN, OURS, Linearizable, MarkText
from badluck.functions.project_modules import Project, in_project
from badluck.functions.rebinding import Rebinder
from badluck.functions.signature import Function, count_arguments, function_name
from badluck.model.server import begun
from badluck.model.values import Command, Entry
from badluck.rule import Rule, StateRule, View
from badluck.sandbox.user_code import LOAD_LOCK_SCRIPTS, UserCode, value_text
from badluck.search.names import LETTERS
from badluck.target import EPOCH, PLAIN, Shown, StoredLock, Vocabulary

NO_LOCK = b""  # in place of a lock's key: no key is a lock
COLUMNS = 4  # keys whose values a chart has room for


class StoreContents(NamedTuple):
    """The contents of the stores, for rules."""

    stores: Stores
    lock: StoredLock | None = None


@dataclass(frozen=True, eq=False)
class FunctionTarget(UserCode):
    """Each actor calls its function, with a client and, if it takes two arguments, with its name.

    With several `servers` it gets a tuple of clients, as `prepare`, `invariant` and `at_end` do.
    """

    function = "an actor"

    actors: Sequence[Function]  # A's, B's …
    prepare: Callable[[Any], object] | None = None
    invariant: Function | None = None  # called with the client, and with the actors' outcomes
    at_end: Function | None = None  # the same, when all actors have ended
    client_retries: bool = False  # as redis-py does by default
    decode_responses: bool = False  # of all clients, as redis-py's
    lock_key: bytes | None = None  # else locks are recognised by deletion or polling
    show: Sequence[str] = ()  # keys that a chart shows; (): the first ones that occur
    servers: int = 1
    imports: Sequence[str] = ()  # modules that the test imports for what they do when imported
    reads: tuple[str, Sequence[str]] = ("", ())  # a module, and its lists, dicts … that actors read
    project: Project = field(default_factory=Project)

    @property
    def name(self) -> str:
        return ", ".join(dict.fromkeys(map(function_name, self.actors)))

    @property
    def vocabulary(self) -> Vocabulary:  # type: ignore[override]
        """Call concurrent work of an actor a task, where actors use asyncio."""
        tasks = any(map(inspect.iscoroutinefunction, self.actors))
        return PLAIN._replace(fiber_kind="task") if tasks else PLAIN

    @property
    def files(self) -> Files:
        return Files(self.name, in_project)

    @property
    def setting(self) -> str:
        pairs = zip(LETTERS, self.actors, strict=False)
        return ", ".join(f"{name} does {function_name(function)}" for name, function in pairs)

    def identity(self) -> dict[str, Any]:
        return {"target": self.name}

    @property
    def words(self) -> CommandText:
        return MarkText(bytes_as_such=True)

    @contextmanager
    def surroundings(self) -> Iterator[None]:
        with process_patches.of_its_own() as instead, self.project.hide_modules():
            self.project.instead |= instead  # one search may be within another's surroundings
            yield

    def work(self, actor: Actor) -> str:
        """Call the actor's function. Raises UserCodeError for an error that no order of steps
        causes.
        """
        try:
            for name in self.imports:
                self.project.module(name)
            function = self.actors[LETTERS.index(actor.name)]
            call = Rebinder(self.project).of(function, function_name(function))
            refuse_changed(self.project, *self.reads)
            names = [actor.name] if count_arguments(function) == 2 else []
            actor.begins_late = True
        except Exception as error:
            raise user_code_error.user_error(error, actor) from error
        try:
            return self._answered(call, actor.name, names)
        except (GreenletExit, UserCodeError, SystemExit, *user_code_error.EXPECTED):
            raise
        except BaseException as error:
            if actor.over:
                raise GreenletExit from None  # on its way out it may raise any error
            if not isinstance(error, Exception) or isinstance(error, MemoryError):
                raise user_code_error.user_error(error, actor) from error
            return RAISED + user_code_error.describe_error(error, self.files).partition("\n")[0]

    def _answered(self, call: Function, name: str, names: Sequence[str]) -> str:
        retry = RESENDS if self.client_retries else SENDS_ONCE
        decode = self.decode_responses
        clients = [client(server, retry, decode) for server in range(self.servers)]
        marks = self._marks
        if marks:
            marks.begins(clients[0], name)
        answer = format_answer(async_connection.call(call, [as_argument(clients), *names]))
        if marks:
            marks.ends(clients[0], name, answer)
        return answer

    @property
    def _marks(self) -> Linearizable | None:
        """The check that records when actors begin and end."""
        checks = (self.invariant, self.at_end)
        return next((check for check in checks if isinstance(check, Linearizable)), None)

    @cached_property
    def rules(self) -> Sequence[Rule]:
        rules: list[Rule] = []
        if self.invariant:
            text = "The invariant does not hold."
            explain = partial(self._said, self.invariant)
            rules.append(StateRule("invariant broken", text, self._broken, explain))
        if self.at_end:
            text = "All have come to an end, and what is to hold then does not."
            explain = partial(self._said, self.at_end)
            rules.append(StateRule("broken at the end", text, self._ends_badly, explain))
        two = (TWO_HOLDERS,) if self.lock_key else ()  # the author knows the meaning of others
        of_locks = () if self.lock_key == NO_LOCK else (*two, DELETED_BY_ANOTHER, LEAKED)
        return (*rules, EXCEPTION, STUCK, *of_locks)

    def _broken(self, view: View) -> bool:
        return self.invariant is not None and not self._true(self.invariant, view)

    def _ends_badly(self, view: View) -> bool:
        if self.at_end is None or not view.answers.over or EXCEPTION.wrong(view):
            return False  # of an actor that ended by an exception, which says enough
        return not self._true(self.at_end, view)

    def _true(self, function: Function, view: View) -> bool:
        return self._looking.true(function, view.book.stores, view.answers.words)

    def _said(self, function: Function, view: View) -> str:
        """Return the message of the function's `assert`."""
        return self._looking.said(function, view.book.stores, view.answers.words)

    @cached_property
    def _looking(self) -> InvariantCheck:
        return InvariantCheck(self._alone())

    def _alone(self) -> InlineServer:
        modules = self.project.originals
        return InlineServer(self.files, self.servers, self.decode_responses, modules)

    @cached_property
    def _met(self) -> dict[tuple[int, bytes], None]:
        """Return keys and their servers, in the order in which they occurred."""
        return {}

    @cached_property
    def _prepared(self) -> list[list[Command]]:
        alone, prepare = self._alone(), self.prepare
        if prepare:
            alone.call(lambda: prepare(alone.given))
        return alone.sent

    def setup(self) -> list[list[Command]]:
        scripts = [*LOAD_LOCK_SCRIPTS, (b"SCRIPT", b"LOAD", BEGIN.encode())]
        return [[*scripts, *sent] for sent in self._prepared]

    def filled_up(self, _: dict[bytes, Entry]) -> dict[bytes, Entry]:
        return begun(EPOCH, self.setup())[0].keys.entries

    def book(self, *stores: dict[bytes, Entry]) -> StoreContents:
        for server, entries in enumerate(stores):
            keys = [key for key in entries if not key.startswith(OURS)]
            self._met.update(dict.fromkeys((server, key) for key in keys))
        return StoreContents(stores)

    def shown(self, book: StoreContents) -> Shown:
        value_by_key = {
            numbered_key(decoded(key), server): entry.value
            for server, entries in enumerate(book.stores)
            for key, entry in entries.items()
        }
        names = self.show or [numbered_key(decoded(key), at) for at, key in [*self._met][:COLUMNS]]
        return {name: value_text(value_by_key.get(name)) for name in names}
