"""The keys, their expiry, and who watches them."""

from __future__ import annotations

from typing import TypeVar

from badluck.simulated.values import WRONG_TYPE, Entry, Hash, Refused, SortedSet, Value

V = TypeVar("V", bytes, tuple[bytes, ...], frozenset[bytes])


class Keyspace:
    """One database."""

    def __init__(self) -> None:
        self.entries: dict[bytes, Entry] = {}
        self.watches: dict[str, dict[bytes, bool]] = {}  # connection -> key -> touched since?
        self.now = 0  # ms since 1970

    def pass_time(self, now: int) -> None:
        """Let the clock say `now`. What has expired is gone, and whoever watched it knows."""
        self.now = now
        for key, entry in list(self.entries.items()):
            if entry.expires is not None and entry.expires < now:
                del self.entries[key]
                self._touch(key)

    def get(self, key: bytes) -> Entry | None:
        return self.entries.get(key)

    def value(self, key: bytes, kind: type[V]) -> V | None:
        """Raises Refused when the key holds something else."""
        entry = self.get(key)
        if entry is None:
            return None
        if type(entry.value) is not kind:
            raise Refused(WRONG_TYPE)
        return entry.value

    def put(self, key: bytes, value: Value, expires: int | None = None) -> None:
        self.entries[key] = Entry(value, expires)
        self._touch(key)

    def change(self, key: bytes, value: Value) -> None:
        """A new value that lives as long as the old one. An empty collection is no key at all."""
        empty = () if isinstance(value, tuple) else frozenset()
        if value in (empty, Hash(()), SortedSet(frozenset())):
            self.delete(key)
        else:
            old = self.entries.get(key)
            self.put(key, value, old.expires if old else None)

    def delete(self, key: bytes) -> bool:
        if self.get(key) is None:
            return False
        del self.entries[key]
        self._touch(key)
        return True

    def watch(self, connection: str, keys: tuple[bytes, ...]) -> None:
        watched = self.watches.setdefault(connection, {})
        for key in keys:
            watched.setdefault(key, False)

    def unwatch(self, connection: str) -> bool:
        """Watch no more. Answers whether anything watched was touched."""
        return any(self.watches.pop(connection, {}).values())

    def _touch(self, key: bytes) -> None:
        for watched in self.watches.values():
            if key in watched:
                watched[key] = True
