"""XREAD and XREADGROUP, and what readers share: groups, and unacknowledged entries."""

from __future__ import annotations

from typing import NamedTuple

from badluck.model.keyspace import Keyspace
from badluck.model.parsing import SYNTAX, CommandRefused, Undefined, integer, milliseconds
from badluck.model.streams import Id, read_id, shown
from badluck.model.values import OK, Command, Group, Pending, Reply, Stream, StreamEntry

NEW = b">"  # entries that no consumer of the group has been given
FROM_NOW = b"$"


class ReadRequest(NamedTuple):
    """The words of an XREAD or XREADGROUP."""

    streams: tuple[tuple[bytes, bytes], ...]  # key, and the id after which to read
    group: bytes | None = None
    consumer: bytes = b""
    limit: int | None = None  # entries of each stream
    patience: int | None = None  # ms, 0 forever; None: it does not wait
    keeps: bool = True  # what is given must be acknowledged


def _asked(command: Command) -> ReadRequest:
    request, words = ReadRequest(()), list(command[1:])
    of_a_group = command[0] == b"XREADGROUP"
    while words:
        word = words.pop(0).upper()
        if word == b"STREAMS" and words:
            half = len(words) // 2
            if len(words) % 2:
                raise CommandRefused(
                    f"ERR Unbalanced '{command[0].decode().lower()}' list of streams"
                )
            pairs = zip(words[:half], words[half:], strict=True)
            request = request._replace(streams=tuple(pairs))
            break
        if word == b"COUNT" and words:
            request = request._replace(limit=max(0, integer(words.pop(0))) or None)
        elif word == b"BLOCK" and words:
            request = request._replace(patience=milliseconds(words.pop(0)))
        elif word == b"GROUP" and of_a_group and len(words) > 1:
            request = request._replace(group=words.pop(0), consumer=words.pop(0))
        elif word == b"NOACK" and of_a_group:
            request = request._replace(keeps=False)
        else:
            raise CommandRefused(SYNTAX)
    if not request.streams:
        raise CommandRefused(SYNTAX)
    if request.patience is not None and len(dict(request.streams)) < len(request.streams):
        raise Undefined(f"{command[0].decode()} that waits for one stream twice")
    if of_a_group and request.group is None:
        raise CommandRefused("ERR Missing GROUP option for XREADGROUP")
    return request


def patience(command: Command) -> int | None:
    return _asked(command).patience


def names(command: Command) -> tuple[bytes, ...]:
    return tuple(key for key, _ in _asked(command).streams)


def meant(keys: Keyspace, command: Command) -> Command:
    """Replace `$` by the last id at the time when the command came."""
    streams = _asked(command).streams
    ids = []
    for key, text in streams:
        stream = keys.value(key, Stream)
        ids.append(shown(stream.last if stream else (0, 0)) if text == FROM_NOW else text)
    return (*command[: -len(streams)], *ids)


def read(keys: Keyspace, command: Command, of: tuple[bytes, ...]) -> Reply:
    """Read from these keys; None when there is nothing."""
    request = _asked(command)
    streams = [(key, text) for key, text in request.streams if key in of]
    behind = [_behind(keys, request, key, text) for key, text in streams]
    replies: list[tuple[bytes, Reply]] = []
    for (key, text), id in zip(streams, behind, strict=True):
        stream = keys.value(key, Stream)
        if stream is None:
            continue
        if request.group is None:
            reply = _told(_after(stream, id)[: request.limit])
        elif text == NEW:
            reply = _give_new(keys, key, stream, request)
        else:
            reply = _history(keys, key, stream, request, id)
        if reply or (request.group is not None and text != NEW):
            replies.append((key, reply))
    return tuple(replies) or None


def handed(keys: Keyspace, id: Id, consumer: bytes, given: int) -> Pending:
    """Give an entry to that consumer again, at this time."""
    return Pending(id, consumer, keys.now, given + 1 if keys.counts_given else 0)


def _told(entries: tuple[StreamEntry, ...]) -> Reply:
    return tuple((shown(entry.id), entry.fields) for entry in entries)


def is_there(keys: Keyspace, command: Command) -> None:
    """Raises Undefined when a client waits in a group that is gone: servers differ there."""
    request = _asked(command)
    try:
        for key, _ in request.streams if request.group is not None else ():
            group_of(keys.value(key, Stream), request.group or b"")
    except CommandRefused:
        raise Undefined("XREADGROUP that waits in a group which is removed") from None


def _behind(keys: Keyspace, asked: ReadRequest, key: bytes, text: bytes) -> Id:
    """Return the id after which to read. Raises CommandRefused for a wrong stream or id."""
    stream = keys.value(key, Stream)
    if asked.group is not None:
        group_of(stream, asked.group)
        if text == FROM_NOW:
            raise CommandRefused("ERR The $ ID is meaningless in the context of XREADGROUP")
        if text == NEW:
            return 0, 0
    elif text == NEW:
        raise CommandRefused("ERR The > ID can be specified only when calling XREADGROUP")
    if text == b"+":
        raise Undefined("XREAD behind +")
    if text == FROM_NOW:
        return stream.last if stream else (0, 0)
    return read_id(text, 0)


def _after(stream: Stream, id: Id) -> tuple[StreamEntry, ...]:
    return tuple(entry for entry in stream.entries if entry.id > id)


def _give_new(keys: Keyspace, key: bytes, stream: Stream, asked: ReadRequest) -> Reply:
    group = group_of(stream, asked.group or b"")
    entries = _after(stream, group.last)[: asked.limit]
    if entries:
        given = {entry.id for entry in entries}
        mine = tuple(handed(keys, entry.id, asked.consumer, 0) for entry in entries if asked.keeps)
        others = tuple(entry for entry in group.pending if not asked.keeps or entry.id not in given)
        pending = tuple(sorted(others + mine, key=lambda one: one.id))
        keep_group(keys, key, stream, group._replace(last=entries[-1].id, pending=pending))
    return _told(entries)


def _history(keys: Keyspace, key: bytes, stream: Stream, asked: ReadRequest, id: Id) -> Reply:
    """Return this consumer's pending entries; only the ids of deleted ones."""
    group = group_of(stream, asked.group or b"")
    fields = {entry.id: entry.fields for entry in stream.entries}
    mine = [
        entry.id for entry in group.pending if entry.consumer == asked.consumer and entry.id > id
    ]
    given = mine[: asked.limit]
    again = {entry for entry in given if entry in fields}
    pending = (
        handed(keys, entry.id, entry.consumer, entry.given) if entry.id in again else entry
        for entry in group.pending
    )
    keep_group(keys, key, stream, group._replace(pending=tuple(pending)))
    return tuple((shown(entry), fields.get(entry)) for entry in given)


def group_of(stream: Stream | None, name: bytes) -> Group:
    groups = [known for known in stream.groups if known.name == name] if stream else []
    if not groups:
        raise CommandRefused(
            f"NOGROUP No such key or consumer group '{name.decode(errors='replace')}'"
        )
    return groups[0]


def keep_group(keys: Keyspace, key: bytes, stream: Stream, group: Group) -> None:
    """Replace the group of this name. A client that watches the key does not notice it."""
    groups = tuple(group if known.name == group.name else known for known in stream.groups)
    keys.amend(key, stream._replace(groups=groups))


def acknowledge(keys: Keyspace, command: Command) -> Reply:
    """XACK."""
    _, key, name, *ids = command
    stream = keys.value(key, Stream)
    if stream is None or name not in [group.name for group in stream.groups]:
        return 0
    group = group_of(stream, name)
    done = {read_id(text, 0) for text in ids}
    rest = tuple(entry for entry in group.pending if entry.id not in done)
    keep_group(keys, key, stream, group._replace(pending=rest))
    return len(group.pending) - len(rest)


def group(keys: Keyspace, command: Command) -> Reply:
    """XGROUP: CREATE with MKSTREAM, SETID, DESTROY, DELCONSUMER."""
    what, words = command[1].upper(), command[2:]
    if what not in {b"CREATE", b"SETID", b"DESTROY", b"DELCONSUMER"}:
        raise NotImplementedError(f"XGROUP {what.decode()}")
    key, name, *rest = words
    makes = what == b"CREATE" and [option.upper() for option in rest[1:]] == [b"MKSTREAM"]
    if rest[1:] and not makes:
        raise NotImplementedError(f"XGROUP {what.decode()} with {rest[1].decode()}")
    stream = keys.value(key, Stream)
    if stream is None and not makes:
        raise CommandRefused("ERR The XGROUP subcommand requires the key to exist")
    stream = stream or Stream((0, 0), ())
    if what == b"CREATE":
        return _create(keys, key, stream, name, rest[0])
    if what == b"DESTROY":
        return _destroy(keys, key, stream, name)
    group = group_of(stream, name)
    if what == b"SETID":
        last = stream.last if rest[0] == FROM_NOW else read_id(rest[0], 0)
        keep_group(keys, key, stream, group._replace(last=last))
        return OK
    left = tuple(entry for entry in group.pending if entry.consumer != rest[0])
    keep_group(keys, key, stream, group._replace(pending=left))
    return len(group.pending) - len(left)


def _create(keys: Keyspace, key: bytes, stream: Stream, name: bytes, start: bytes) -> Reply:
    last = stream.last if start == FROM_NOW else read_id(start, 0)
    if name in [group.name for group in stream.groups]:
        raise CommandRefused("BUSYGROUP Consumer Group name already exists")
    made = stream._replace(groups=(*stream.groups, Group(name, last)))
    if key in keys.entries:  # a client that watches it does not notice a group
        keys.amend(key, made)
    else:
        keys.change(key, made)
    return OK


def _destroy(keys: Keyspace, key: bytes, stream: Stream, name: bytes) -> Reply:
    rest = tuple(group for group in stream.groups if group.name != name)
    if len(rest) == len(stream.groups):
        return 0
    keys.amend(key, stream._replace(groups=rest))
    keys.ready.append(key)  # a client that waits in it gets an error
    return 1
