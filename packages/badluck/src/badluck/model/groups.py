"""XREAD and XREADGROUP, and what readers have in common: groups, and what is not acknowledged."""

from __future__ import annotations

from typing import NamedTuple

from badluck.model.keyspace import Keyspace
from badluck.model.streams import Id, read_id, shown, stream_of
from badluck.model.values import (
    OK,
    SYNTAX,
    Command,
    CommandRefused,
    Group,
    Pending,
    Reply,
    Stream,
    StreamEntry,
    Undefined,
    integer,
    milliseconds,
)

NEW = b">"  # what nobody in the group has been given
FROM_NOW = b"$"


class ReadRequest(NamedTuple):
    """The words of an XREAD or XREADGROUP."""

    streams: tuple[tuple[bytes, bytes], ...]  # key, and behind which id
    group: bytes | None = None
    consumer: bytes = b""
    most: int | None = None  # entries of each stream
    patience: int | None = None  # ms, 0 for ever; None: it does not wait
    keeps: bool = True  # what is given must be acknowledged


def _asked(command: Command) -> ReadRequest:
    asked, words = ReadRequest(()), list(command[1:])
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
            asked = asked._replace(streams=tuple(pairs))
            break
        if word == b"COUNT" and words:
            asked = asked._replace(most=max(0, integer(words.pop(0))) or None)
        elif word == b"BLOCK" and words:
            asked = asked._replace(patience=milliseconds(words.pop(0)))
        elif word == b"GROUP" and of_a_group and len(words) > 1:
            asked = asked._replace(group=words.pop(0), consumer=words.pop(0))
        elif word == b"NOACK" and of_a_group:
            asked = asked._replace(keeps=False)
        else:
            raise CommandRefused(SYNTAX)
    if not asked.streams:
        raise CommandRefused(SYNTAX)
    if asked.patience is not None and len(dict(asked.streams)) < len(asked.streams):
        raise Undefined(f"{command[0].decode()} that waits for one stream twice")
    if of_a_group and asked.group is None:
        raise CommandRefused("ERR Missing GROUP option for XREADGROUP")
    return asked


def patience(command: Command) -> int | None:
    return _asked(command).patience


def names(command: Command) -> tuple[bytes, ...]:
    return tuple(key for key, _ in _asked(command).streams)


def meant(keys: Keyspace, command: Command) -> Command:
    """With the ids that `$` stands for: what was there when the command came."""
    streams = _asked(command).streams
    ids = []
    for key, text in streams:
        stream = stream_of(keys, key)
        ids.append(shown(stream.last if stream else (0, 0)) if text == FROM_NOW else text)
    return (*command[: -len(streams)], *ids)


def read(keys: Keyspace, command: Command, of: tuple[bytes, ...]) -> Reply:
    """Of these keys what it asks for; None when there is nothing."""
    asked = _asked(command)
    streams = [(key, text) for key, text in asked.streams if key in of]
    behind = [_behind(keys, asked, key, text) for key, text in streams]
    found: list[tuple[bytes, Reply]] = []
    for (key, text), id in zip(streams, behind, strict=True):
        stream = stream_of(keys, key)
        if stream is None:
            continue
        if asked.group is None:
            said = _told(_after(stream, id)[: asked.most])
        elif text == NEW:
            said = _give_new(keys, key, stream, asked)
        else:
            said = _history(keys, key, stream, asked, id)
        if said or (asked.group is not None and text != NEW):
            found.append((key, said))
    return tuple(found) or None


def handed(keys: Keyspace, id: Id, consumer: bytes, given: int) -> Pending:
    """Once more, to that consumer, at this moment."""
    return Pending(id, consumer, keys.now, given + 1 if keys.counts_given else 0)


def _told(entries: tuple[StreamEntry, ...]) -> Reply:
    return tuple((shown(entry.id), entry.fields) for entry in entries)


def is_there(keys: Keyspace, command: Command) -> None:
    """Raises Undefined when somebody waits in a group that is gone: each server has its own way."""
    asked = _asked(command)
    try:
        for key, _ in asked.streams if asked.group is not None else ():
            group_of(stream_of(keys, key), asked.group or b"")
    except CommandRefused:
        raise Undefined("XREADGROUP that waits in a group which is removed") from None


def _behind(keys: Keyspace, asked: ReadRequest, key: bytes, text: bytes) -> Id:
    """Raises CommandRefused for whatever is wrong with that stream or id."""
    stream = stream_of(keys, key)
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
    entries = _after(stream, group.last)[: asked.most]
    if entries:
        given = {entry.id for entry in entries}
        mine = tuple(handed(keys, entry.id, asked.consumer, 0) for entry in entries if asked.keeps)
        others = tuple(one for one in group.pending if not asked.keeps or one.id not in given)
        pending = tuple(sorted(others + mine, key=lambda one: one.id))
        keep_group(keys, key, stream, group._replace(last=entries[-1].id, pending=pending))
    return _told(entries)


def _history(keys: Keyspace, key: bytes, stream: Stream, asked: ReadRequest, id: Id) -> Reply:
    """What this consumer was given and has not acknowledged; of what is deleted, only the id."""
    group = group_of(stream, asked.group or b"")
    fields = {entry.id: entry.fields for entry in stream.entries}
    mine = [one.id for one in group.pending if one.consumer == asked.consumer and one.id > id]
    given = mine[: asked.most]
    again = {one for one in given if one in fields}
    pending = (
        handed(keys, one.id, one.consumer, one.given) if one.id in again else one
        for one in group.pending
    )
    keep_group(keys, key, stream, group._replace(pending=tuple(pending)))
    return tuple((shown(one), fields.get(one)) for one in given)


def group_of(stream: Stream | None, name: bytes) -> Group:
    found = [one for one in stream.groups if one.name == name] if stream else []
    if not found:
        raise CommandRefused(
            f"NOGROUP No such key or consumer group '{name.decode(errors='replace')}'"
        )
    return found[0]


def keep_group(keys: Keyspace, key: bytes, stream: Stream, group: Group) -> None:
    """In place of the one of its name. Who watches the key sees nothing of it."""
    groups = tuple(group if one.name == group.name else one for one in stream.groups)
    keys.amend(key, stream._replace(groups=groups))


def acknowledge(keys: Keyspace, command: Command) -> Reply:
    """XACK."""
    _, key, name, *ids = command
    stream = stream_of(keys, key)
    if stream is None or name not in [group.name for group in stream.groups]:
        return 0
    group = group_of(stream, name)
    done = {read_id(text, 0) for text in ids}
    rest = tuple(one for one in group.pending if one.id not in done)
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
    stream = stream_of(keys, key)
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
    left = tuple(one for one in group.pending if one.consumer != rest[0])
    keep_group(keys, key, stream, group._replace(pending=left))
    return len(group.pending) - len(left)


def _create(keys: Keyspace, key: bytes, stream: Stream, name: bytes, start: bytes) -> Reply:
    last = stream.last if start == FROM_NOW else read_id(start, 0)
    if name in [group.name for group in stream.groups]:
        raise CommandRefused("BUSYGROUP Consumer Group name already exists")
    made = stream._replace(groups=(*stream.groups, Group(name, last)))
    if key in keys.entries:  # who watches it sees nothing of a group
        keys.amend(key, made)
    else:
        keys.change(key, made)
    return OK


def _destroy(keys: Keyspace, key: bytes, stream: Stream, name: bytes) -> Reply:
    rest = tuple(group for group in stream.groups if group.name != name)
    if len(rest) == len(stream.groups):
        return 0
    keys.amend(key, stream._replace(groups=rest))
    keys.ready.append(key)  # who waits in it is told
    return 1
