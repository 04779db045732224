"""Pending entries, and consumers that claim them: XPENDING, XCLAIM, XAUTOCLAIM.

How often an entry was given makes more states, so it is counted only in a search in which a command
has asked for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from badluck.model.groups import group_of, handed, keep_group
from badluck.model.keyspace import Keyspace
from badluck.model.parsing import HIGHEST, SYNTAX, CommandRefused, integer
from badluck.model.streams import LAST, Id, bound, read_id, shown
from badluck.model.values import Command, Pending, Reply, SomeTime, Stream, Uncounted

DEFAULT_COUNT = 100  # entries that an XAUTOCLAIM takes by default
LARGEST = HIGHEST // 16  # the most that it may ask for
LOOKED_AT = 10  # times that number of entries are checked


def pending(keys: Keyspace, command: Command) -> Reply:
    """XPENDING."""
    return _some(keys, command) if len(command) > 3 else _summary(keys, command)


def _some(keys: Keyspace, command: Command) -> Reply:
    """List entries, each with its age and how often it was given."""
    _, key, name, *words = command
    at_least = 0
    if words[0].upper() == b"IDLE" and len(words) > 1:
        at_least = integer(words[1])
        words = words[2:]
    if not 3 <= len(words) <= 4:
        raise CommandRefused(SYNTAX)
    limit = max(0, integer(words[2]))
    low, high = bound(words[0], 0), bound(words[1], LAST)
    entries = [
        entry
        for entry in group_of(keys.value(key, Stream), name).pending
        if low <= entry.id <= high and entry.consumer in (words[3:] or [entry.consumer])
        if keys.now - entry.since >= at_least
    ][:limit]
    if not all(entry.given for entry in entries):
        raise Uncounted
    return tuple(
        (shown(entry.id), entry.consumer, _ago(keys, entry), entry.given) for entry in entries
    )


def _ago(keys: Keyspace, one: Pending) -> int | SomeTime:
    if keys.no_clock:
        return SomeTime()
    keys.told_time = True
    return keys.now - one.since


def _summary(keys: Keyspace, command: Command) -> Reply:
    """Summarize a group's pending entries."""
    _, key, name = command
    pending = group_of(keys.value(key, Stream), name).pending
    if not pending:
        return 0, None, None, None
    counted = sorted(Counter(entry.consumer for entry in pending).items())
    ends = shown(pending[0].id), shown(pending[-1].id)
    return len(pending), *ends, tuple((consumer, b"%d" % size) for consumer, size in counted)


def claim(keys: Keyspace, command: Command) -> Reply:
    """XCLAIM, with JUSTID."""
    _, key, name, consumer, idle, *words = command
    stream = keys.value(key, Stream) or Stream((0, 0), ())
    group = group_of(stream, name)
    at_least = max(0, integer(idle))
    keys.told_time |= at_least > 0
    ids = _ids(words)
    options = [word.upper() for word in words[len(ids) :]]
    if set(options) & {b"IDLE", b"TIME", b"RETRYCOUNT", b"FORCE", b"LASTID"}:
        raise NotImplementedError(f"XCLAIM with {options[0].decode()}")
    if set(options) - {b"JUSTID"}:
        raise CommandRefused("ERR Unrecognized XCLAIM option")
    pending = {claimed.id: claimed for claimed in group.pending}
    existing = {entry.id for entry in stream.entries}
    taken: list[Id] = []
    for id in ids:
        if id not in pending:
            continue
        if id not in existing:
            del pending[id]
        elif keys.now - pending[id].since >= at_least:
            pending[id] = _taken(keys, pending[id], consumer, bool(options))
            taken.append(id)
    rest = tuple(pending[id] for id in sorted(pending))
    keep_group(keys, key, stream, group._replace(pending=rest))
    return _told(stream, taken, bool(options))


def _ids(words: list[bytes]) -> list[Id]:
    """Read ids up to the first word that is not one."""
    ids: list[Id] = []
    for word in words:
        try:
            ids.append(read_id(word, 0))
        except CommandRefused:
            break
    return ids


def claim_next(keys: Keyspace, command: Command) -> Reply:
    """XAUTOCLAIM, with COUNT and JUSTID."""
    _, key, name, consumer, idle, start, *words = command
    at_least, low, limit, only_ids = max(0, integer(idle)), bound(start, 0), DEFAULT_COUNT, False
    keys.told_time |= at_least > 0
    while words:
        word = words.pop(0).upper()
        if word == b"JUSTID":
            only_ids = True
        elif word == b"COUNT" and words:
            limit = integer(words.pop(0))
            if not 1 <= limit <= LARGEST:
                raise CommandRefused("ERR COUNT must be > 0")
        else:
            raise CommandRefused(SYNTAX)
    stream = keys.value(key, Stream) or Stream((0, 0), ())
    group = group_of(stream, name)
    existing = {entry.id for entry in stream.entries}
    pending = {claimed.id: claimed for claimed in group.pending}
    left = [claimed for claimed in group.pending if claimed.id >= low]
    tries = LOOKED_AT * limit
    taken: list[Id] = []
    deleted: list[Id] = []
    while left and tries and len(taken) + len(deleted) < limit:
        claimed, tries = left.pop(0), tries - 1
        if claimed.id not in existing:
            del pending[claimed.id]
            deleted.append(claimed.id)
        elif keys.now - claimed.since >= at_least:
            pending[claimed.id] = _taken(keys, claimed, consumer, only_ids)
            taken.append(claimed.id)
    keep_group(keys, key, stream, group._replace(pending=tuple(pending.values())))
    cursor = left[0].id if left else (0, 0)
    return shown(cursor), _told(stream, taken, only_ids), tuple(map(shown, deleted))


def _taken(keys: Keyspace, one: Pending, consumer: bytes, only_id: bool) -> Pending:
    """Take an entry over from another consumer; by its id alone it is not given again."""
    if only_id:
        return one._replace(consumer=consumer, since=keys.now)
    return handed(keys, one.id, consumer, one.given)


def _told(stream: Stream, ids: Iterable[Id], only_ids: bool) -> Reply:
    fields = {entry.id: entry.fields for entry in stream.entries}
    return tuple(shown(id) if only_ids else (shown(id), fields[id]) for id in ids)
