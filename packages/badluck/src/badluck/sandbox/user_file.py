"""A user's own file with a function that each actor calls.

Each actor is a process of its own: it runs the file again, and shares no variable.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import sys
from abc import abstractmethod
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from greenlet import GreenletExit

from badluck.actor import async_connection, user_code_error
from badluck.actor.actor import Actor, Files
from badluck.actor.request import RAISED
from badluck.actor.user_code_error import UserCodeError
from badluck.sandbox.user_code import UserCode


class UserFile(UserCode):
    """The half of a Target that every such file shares."""

    path: Path
    function: str  # its name
    parameters: tuple[str, ...]  # their names; it is called with so many arguments

    @abstractmethod
    def arguments(self, actor: Actor) -> tuple[Any, ...]:
        """Return the function's arguments."""

    @abstractmethod
    def outcome(self, said: object) -> str:
        """Return the outcome of a call with that answer. Raises ValueError, with a message."""

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def files(self) -> Files:
        return Files(self.name, str(self.path).__eq__)

    @property
    def signature(self) -> str:
        return f"{self.function}({', '.join(self.parameters)})"

    @cached_property
    def source(self) -> bytes:
        return self.path.read_bytes()

    def identity(self) -> dict[str, Any]:
        digest = hashlib.sha256(self.source).hexdigest()
        return {"target": self.name, "file": str(self.path), "sha256": digest}

    def work(self, actor: Actor) -> str:
        """Call the function. Raises UserCodeError for an error that no order of steps causes."""
        try:
            call = self._begun(actor)
            actor.begins_late = True
            return self._told(async_connection.call(call, self.arguments(actor)), call)
        except (GreenletExit, UserCodeError, *user_code_error.EXPECTED):
            raise
        except BaseException as error:
            if actor.over:
                raise GreenletExit from None  # on its way out it may raise any error
            failure = user_code_error.user_error(error, actor)
            if not isinstance(error, Exception) or isinstance(error, MemoryError):
                raise failure from error
            if actor.heard is None:  # it has not sent anything yet
                raise failure from error
            return f"{RAISED}{failure}"

    def load_libraries(self) -> None:
        """Import its libraries before it is confined: some inspect the system."""
        with suppress(SyntaxError, ValueError):
            for part in ast.walk(ast.parse(self.source)):
                names = [name.name for name in part.names] if isinstance(part, ast.Import) else []
                if isinstance(part, ast.ImportFrom) and part.module and not part.level:
                    names = [part.module]
                for name in names:
                    with suppress(Exception):  # its own import meets the error, at its line
                        importlib.import_module(name)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for another process: bytecode cannot be pickled."""
        return {name: value for name, value in vars(self).items() if name != "_code"}

    @cached_property
    def _code(self) -> CodeType:
        code: CodeType = compile(self.source, str(self.path), "exec", dont_inherit=True)
        return code

    def _begun(self, actor: Actor) -> Callable[..., object]:
        """Return the function, from the file as this actor has run it."""
        module = ModuleType(f"explored_{self.path.stem}")
        module.__file__ = str(self.path)
        actor.modules[module.__name__] = sys.modules[module.__name__] = module  # while it runs
        exec(self._code, module.__dict__)  # noqa: S102  this is what we are here for
        call: Any = module.__dict__.get(self.function)
        if not callable(call):
            raise UserCodeError(f"{self.name} has no function {self.signature}")
        try:
            inspect.signature(call).bind(*self.parameters)
        except TypeError as error:
            problem = f"it cannot be called as {self.signature}: {error}"
            raise UserCodeError(self._at(call, problem)) from error
        if inspect.isasyncgenfunction(call) or inspect.isgeneratorfunction(call):
            raise UserCodeError(self._at(call, "it must be a function without yield"))
        function: Callable[..., object] = call
        return function

    def _told(self, said: object, call: Callable[..., object]) -> str:
        try:
            return self.outcome(said)
        except ValueError as error:
            raise UserCodeError(self._at(call, str(error))) from error

    def _at(self, call: Callable[..., object], text: str) -> str:
        code = getattr(call, "__code__", None)
        return user_code_error.line_text(
            str(self.path), code.co_firstlineno if code else 1, self.function, text
        )
