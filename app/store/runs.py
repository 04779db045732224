"""Runs in the store: the claim on an item, the record, the stream of events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import redis

from app.store import keys, lua
from app.store.keys import RunKeys

LIFE = 24 * 3600  # s for which a run is kept here; its row in the database stays
AT_ONCE = 500  # events read in one go
END = "end"  # the kind of a run's last event


class Event(NamedTuple):
    """One event; `id` is the stream's, and so the server-sent event's; `json` is its text."""

    id: str
    kind: str
    json: str


def claim(store: redis.Redis, item: str, id: str, ms: int) -> bool:
    """Claim the item for this run, for `ms`. False: another run has it."""
    return bool(store.set(keys.heartbeat(item), id, nx=True, px=ms))


def beat(store: redis.Redis, item: str, id: str, ms: int) -> bool:
    """Renew the run's claim on its item for `ms`. False: another run has it.

    Claims it again when no run has it: the store may have been away for longer than `ms`.
    """
    extend = store.register_script(lua.source("extend"))
    return bool(extend(keys=[keys.heartbeat(item)], args=[id, ms])) or claim(store, item, id, ms)


def release(store: redis.Redis, item: str, id: str) -> None:
    """Release the item, if this run has it, so that other runs may begin."""
    store.register_script(lua.source("release"))(keys=[keys.heartbeat(item)], args=[id])


def on(store: redis.Redis, item: str) -> str:
    """Return the id of the run that has the item; "" when none has."""
    return _text(store.get(keys.heartbeat(item)))


class Newest(NamedTuple):
    """Ids of an item's newest run, and of the run that has the item; "" for none."""

    newest: str
    on: str

    @property
    def newest_is_on(self) -> bool:
        return self.newest != "" and self.newest == self.on


def newest(store: redis.Redis, items: Iterable[str]) -> list[Newest]:
    """Return the newest run of each item."""
    return [
        Newest(_text(newest), _text(on))
        for newest, on in (
            store.mget(keys.newest_run(item), keys.heartbeat(item)) for item in items
        )
    ]


def put(store: redis.Redis, item: str, id: str, record: bytes) -> None:
    """Write a run's record, for LIFE, and make the run the item's newest."""
    pipe = store.pipeline()
    pipe.set(RunKeys(item, id).record, record, ex=LIFE)
    pipe.set(keys.newest_run(item), id)
    pipe.execute()


def find(store: redis.Redis, names: RunKeys) -> bytes | str | None:
    """Return the run's record: as it ended, else as it began."""
    began, ended = store.mget(names.record, names.ended)
    return ended or began


def stop(store: redis.Redis, names: RunKeys) -> None:
    """Ask the run's process to end; it looks at `stop_wanted`."""
    store.set(names.stop, 1, ex=LIFE)


def stop_wanted(store: redis.Redis, names: RunKeys) -> bool:
    return bool(store.exists(names.stop))


def add(store: redis.Redis, names: RunKeys, kind: str, data: bytes) -> None:
    """Append an event; `data` is JSON."""
    pipe = store.pipeline()
    pipe.xadd(names.events, {"kind": kind, "data": data})
    pipe.expire(names.events, LIFE)
    pipe.execute()


def finish(store: redis.Redis, names: RunKeys, id: str, record: bytes, data: bytes) -> bool:
    """Write the run's end and its last event. False: it has ended before."""
    script = store.register_script(lua.source("finish_run"))
    return bool(
        script(keys=[names.ended, names.events, names.heartbeat], args=[record, data, id, LIFE])
    )


class Read(NamedTuple):
    """Some events; and the id of the run that has the item, "" for none."""

    events: list[Event]
    on: str


def read(store: redis.Redis, names: RunKeys, after: str) -> Read:
    """Return up to AT_ONCE events after the event with id `after` ("": from the first)."""
    pipe = store.pipeline(transaction=False)
    pipe.xrange(names.events, f"({after}" if after else "-", "+", count=AT_ONCE)
    pipe.get(names.heartbeat)
    entries, on = pipe.execute()
    return Read([_event(entry) for entry in entries], _text(on))


def last(store: redis.Redis, names: RunKeys) -> Event | None:
    """Return the newest event; None: there is none yet, or the store has lost them."""
    entries: Any = store.xrevrange(names.events, count=1)
    return _event(entries[0]) if entries else None


def _event(entry: tuple[bytes, dict[bytes, bytes]]) -> Event:
    id, fields = entry
    return Event(id.decode(), fields[b"kind"].decode(), fields[b"data"].decode())


def _text(value: Any) -> str:
    return value.decode() if value else ""
