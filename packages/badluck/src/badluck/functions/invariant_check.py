"""Is an invariant true? It is asked once about equal keys, and changes none."""

from __future__ import annotations

from collections.abc import Sequence

from badluck.actor.user_code_error import UserCodeError
from badluck.functions.answers import parse_answers
from badluck.functions.inline_server import InlineServer
from badluck.functions.signature import Function, count_arguments, function_name
from badluck.model.values import Entry

Stores = Sequence[dict[bytes, Entry]]  # the keys of each server


class InvariantCheck:
    """With servers of its own, that have the keys of whatever state is looked at."""

    def __init__(self, alone: InlineServer) -> None:
        self.alone = alone
        for server in alone.servers:
            server.keys.no_clock = True
        self.known: dict[object, str | None] = {}
        self.hears: dict[Function, bool] = {}  # what actors were told

    def true(self, function: Function, stores: Stores, words: Sequence[tuple[str, str]]) -> bool:
        """`words` are the actors' answers, by name. Raises UserCodeError if it has effects."""
        return self._asked(function, stores, words) is None

    def said(self, function: Function, stores: Stores, words: Sequence[tuple[str, str]]) -> str:
        """What its `assert` said where it is not true; "" if it has no words."""
        return self._asked(function, stores, words) or ""

    def _asked(
        self, function: Function, stores: Stores, words: Sequence[tuple[str, str]]
    ) -> str | None:
        """None: it is true; else what it says."""
        if function not in self.hears:
            self.hears[function] = count_arguments(function) == 2
        heard = tuple(words) if self.hears[function] else None
        key = (function, tuple(frozenset(store.items()) for store in stores), heard)
        if key not in self.known:
            self.known[key] = self._ask(function, stores, heard)
        return self.known[key]

    def _ask(
        self,
        function: Function,
        stores: Stores,
        heard: Sequence[tuple[str, str]] | None,
    ) -> str | None:
        alone = self.alone
        for sent, server, entries in zip(alone.sent, alone.servers, stores, strict=True):
            sent.clear()
            server.keys.entries = dict(entries)
            server.keys.told_time = False

        def ask() -> str | None:
            try:
                said = function(alone.given, *([] if heard is None else [parse_answers(heard)]))
            except AssertionError as error:
                return str(error).partition("\n")[0]
            if not (isinstance(said, int) and 0 <= said <= 1):  # EXISTS and others answer 1 or 0
                text = f"{function_name(function)} answers {said!r:.60}, and not True or False"
                raise TypeError(text)
            return None if said else ""

        said = alone.call(ask)
        asked = {command[0] for sent in alone.sent for command in sent}
        names = ", ".join(sorted(name.decode() for name in asked))
        if [server.keys.entries for server in alone.servers] != [*stores]:
            raise UserCodeError(
                f"{function_name(function)} may only read, and changes a key ({names})"
            )
        if any(server.keys.told_time for server in alone.servers):
            text = "may look at keys, and at no clock, but whether something expires (TTL, HTTL …)"
            raise UserCodeError(f"{function_name(function)} {text}: {names}")
        return said
