"""Is an invariant true? It is asked once about equal keys, and changes none."""

from __future__ import annotations

from collections.abc import Sequence

from badluck.actor.code import Files
from badluck.actor.wrong import Wrong
from badluck.functions.alone import Alone
from badluck.functions.answers import told
from badluck.functions.calls import Function, arguments, called
from badluck.simulated.values import Entry

CLOCKS = {b"TIME", b"TTL", b"PTTL", b"EXPIRETIME", b"PEXPIRETIME"}


class Looking:
    """With a server of its own, that has the keys of whatever state is looked at."""

    def __init__(self, files: Files) -> None:
        self.store = Alone(files)
        self.known: dict[object, bool] = {}
        self.hears: dict[Function, bool] = {}  # what actors were told

    def true(
        self, function: Function, entries: dict[bytes, Entry], words: Sequence[tuple[str, str]]
    ) -> bool:
        """`words` are what actors were told, by name. Raises Wrong for what it may not do."""
        if function not in self.hears:
            self.hears[function] = arguments(function) == 2
        heard = tuple(words) if self.hears[function] else None
        key = (function, frozenset(entries.items()), heard)
        if key not in self.known:
            self.known[key] = self._ask(function, entries, heard)
        return self.known[key]

    def _ask(
        self,
        function: Function,
        entries: dict[bytes, Entry],
        heard: Sequence[tuple[str, str]] | None,
    ) -> bool:
        store = self.store
        store.sent.clear()
        store.server.keys.entries = dict(entries)

        def ask() -> bool:
            try:
                said = function(store.client, *([] if heard is None else [told(heard)]))
            except AssertionError:
                return False
            if not isinstance(said, bool):
                text = f"{called(function)} answers {said!r:.60}, and not True or False"
                raise TypeError(text)
            return said

        said = store.call(ask)
        sent = {command[0] for command in store.sent}
        names = ", ".join(sorted(name.decode() for name in sent))
        if store.server.keys.entries != entries:
            raise Wrong(f"{called(function)} may only read, and changes a key ({names})")
        if CLOCKS & sent:
            raise Wrong(f"{called(function)} may look at keys, and at no clock ({names})")
        return said
