"""The keys, their expiry, and the connections that watch them."""

from __future__ import annotations

from typing import Any, TypeVar

from badluck.model.parsing import WRONG_TYPE, CommandRefused, Undefined
from badluck.model.values import Entry, Hash, SortedSet, Stream, Value

V = TypeVar("V", bytes, tuple[bytes, ...], frozenset[bytes], SortedSet, Stream)


class Keyspace:
    """One database."""

    def __init__(self) -> None:
        self.entries: dict[bytes, Entry] = {}
        self.watches: dict[str, dict[bytes, bool]] = {}  # connection -> key -> touched since?
        self.ready: list[bytes] = []  # written just now: clients may block on them
        self.now = 0  # ms since 1970
        self.told_time = False  # has any reply ever depended on the clock? Not part of a state
        self.counts_given = True  # count how often entries were given; see model/pending_claims.py
        self.no_clock = False  # the reader must not see the clock

    def pass_time(self, now: int) -> None:
        """Let the clock say `now`: remove expired keys, and note it for their watchers."""
        self.now = now
        for key, entry in list(self.entries.items()):
            if entry.expires is not None and entry.expires < now:
                del self.entries[key]
                self._touch(key)
            elif type(entry.value) is Hash and entry.value.expires:
                self.entries[key] = entry._replace(value=_aged(entry.value, now))

    def get(self, key: bytes) -> Entry | None:
        """Return the entry. Raises Undefined where servers differ on whether it still exists."""
        entry = self.entries.get(key)
        if entry and type(entry.value) is Hash and not self._alive(entry.value):
            raise Undefined("a hash whose fields have all expired, but to its own commands,")
        return entry

    def value(self, key: bytes, kind: type[V]) -> V | None:
        """Return the key's value. Raises CommandRefused when the key holds another type."""
        entry = self.get(key)
        if entry is None:
            return None
        if type(entry.value) is not kind:
            raise CommandRefused(WRONG_TYPE)
        return entry.value

    def put(self, key: bytes, value: Value, expires: int | None = None) -> None:
        old = self.entries.get(key)
        if old is None or (isinstance(value, Stream) and _newer(value, old.value)):
            self.ready.append(key)
        self.entries[key] = Entry(value, expires)
        self._touch(key)

    def change(self, key: bytes, value: Value) -> None:
        """Set a new value that keeps the old expiry. An empty collection deletes the key."""
        members: Any = value
        if type(value) is Hash:
            members = value.pairs or value.gone
        elif type(value) is SortedSet:
            members = value.scores
        if type(value) is not bytes and not members:
            self.delete(key)
        else:
            old = self.entries.get(key)
            self.put(key, value, old.expires if old else None)

    def replace(self, key: bytes, value: Value) -> None:
        """Set a new value without an expiry. An empty collection deletes the key."""
        before = self.get(key)
        if before:
            self.entries[key] = before._replace(expires=None)
        self.change(key, value)

    def amend(self, key: bytes, stream: Stream) -> None:
        """Change a stream's groups or its last id, which a watching client does not notice."""
        self.entries[key] = self.entries[key]._replace(value=stream)

    def delete(self, key: bytes) -> bool:
        if self.entries.pop(key, None) is None:
            return False
        self._touch(key)
        return True

    def watch(self, connection: str, keys: tuple[bytes, ...]) -> None:
        watched = self.watches.setdefault(connection, {})
        for key in keys:
            watched.setdefault(key, False)

    def unwatch(self, connection: str) -> bool:
        """Stop watching. Return whether any watched key was touched."""
        return any(self.watches.pop(connection, {}).values())

    def may_be_touched(self, connection: str) -> bool:
        """Has it watched a hash of which a server may have removed expired fields?"""
        watched = self.watches.get(connection, {}).keys() & self.entries.keys()
        values = [self.entries[key].value for key in watched]
        return any(type(value) is Hash and (value.gone or self.due(value)) for value in values)

    def due(self, fields: Hash) -> set[bytes]:
        """Return fields that expire at this very ms: servers differ on whether they still exist."""
        return {field for field, until in fields.expires or () if until <= self.now}

    def _alive(self, fields: Hash) -> bool:
        return len(fields.pairs) > (len(self.due(fields)) if fields.expires else 0)

    def _touch(self, key: bytes) -> None:
        for watched in self.watches.values():
            if key in watched:
                watched[key] = True


def _newer(stream: Stream, old: Value) -> bool:
    """Is there an entry newer than all others? Waiting clients notice nothing else."""
    if not isinstance(old, Stream):
        return True
    return bool(stream.entries) and stream.entries[-1].id > old.last


def _aged(fields: Hash, now: int) -> Hash:
    expires = fields.expires or ()
    gone = {field for field, until in expires if until < now}
    return Hash(
        tuple(pair for pair in fields.pairs if pair[0] not in gone),
        tuple(pair for pair in expires if pair[0] not in gone),
        fields.gone | gone,
    )
