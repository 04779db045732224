"""Commands on streams: what writers send, and who looks at a range. Readers: groups.py."""

from __future__ import annotations

from badluck.simulated.keyspace import Keyspace
from badluck.simulated.values import (
    HIGHEST,
    OK,
    SYNTAX,
    WRONG_TYPE,
    Command,
    Refused,
    Reply,
    Stream,
    StreamEntry,
    Undefined,
    integer,
)

Id = tuple[int, int]
LAST = 2**64 - 1
BAD_ID = "ERR Invalid stream ID specified as stream command argument"


def stream_of(keys: Keyspace, key: bytes) -> Stream | None:
    entry = keys.get(key)
    if entry is None:
        return None
    if not isinstance(entry.value, Stream):
        raise Refused(WRONG_TYPE)
    return entry.value


def shown(id: Id) -> bytes:
    return b"%d-%d" % id


def read_id(text: bytes, sequence: int) -> Id:
    """`sequence` for an id that has none. Raises Refused, and Undefined for a sign or a space."""
    parts = text.split(b"-", 1)
    if any(part.lstrip(b"+- \t\r\n\v\f") != part for part in parts):
        raise Undefined(f"an id of a stream like {text.decode()}")
    if not all(part.isdigit() and int(part) <= LAST for part in parts):
        raise Refused(BAD_ID)
    return int(parts[0]), int(parts[1]) if len(parts) == 2 else sequence


def add(keys: Keyspace, command: Command) -> Reply:
    """XADD with an id of one's own or `*`; without trimming."""
    _, key, id, *fields = command
    if id.upper() in {b"NOMKSTREAM", b"MAXLEN", b"MINID"}:
        raise NotImplementedError(f"XADD with {id.decode()}")
    if not fields or len(fields) % 2:
        raise Refused("ERR wrong number of arguments for 'xadd' command")
    if id.endswith(b"-*"):
        raise NotImplementedError(f"XADD with an id like {id.decode()}")
    own = None if id == b"*" else read_id(id, 0)
    if own == (0, 0):
        raise Refused("ERR The ID specified in XADD must be greater than 0-0")
    stream = stream_of(keys, key) or Stream((0, 0), ())
    if own is None:
        keys.told_time = True
        own = max((keys.now, 0), (stream.last[0], stream.last[1] + 1))
    elif own <= stream.last:
        raise Refused(
            "ERR The ID specified in XADD is equal or smaller than the target stream top item"
        )
    if stream.added == HIGHEST:
        raise Undefined("a stream to which more was added than can be counted")
    entry = StreamEntry(own, tuple(fields))
    entries = (*stream.entries, entry)
    keys.change(key, stream._replace(last=own, entries=entries, added=stream.added + 1))
    return shown(own)


def length(keys: Keyspace, command: Command) -> Reply:
    stream = stream_of(keys, command[1])
    return len(stream.entries) if stream else 0


def range_(keys: Keyspace, command: Command) -> Reply:
    """XRANGE and XREVRANGE, with COUNT."""
    name, key, start, stop, *options = command
    if name == b"XREVRANGE":
        start, stop = stop, start
    low, high = bound(start, 0), bound(stop, LAST)
    count = None
    if options:
        if len(options) != 2 or options[0].upper() != b"COUNT":
            raise Refused(SYNTAX)
        count = integer(options[1])
    stream = stream_of(keys, key)
    if stream is None:
        return ()
    if count is not None and count <= 0:
        return None
    found = [entry for entry in stream.entries if low <= entry.id <= high]
    if name == b"XREVRANGE":
        found.reverse()
    return tuple((shown(entry.id), entry.fields) for entry in found[:count])


def bound(text: bytes, sequence: int) -> Id:
    if text == b"-":
        return 0, 0
    if text == b"+":
        return LAST, LAST
    return read_id(text, sequence)


def delete(keys: Keyspace, command: Command) -> Reply:
    gone = {read_id(text, 0) for text in command[2:]}
    stream = stream_of(keys, command[1])
    if stream is None:
        return 0
    rest = tuple(entry for entry in stream.entries if entry.id not in gone)
    if len(rest) < len(stream.entries):
        deleted = max(stream.deleted, *(one.id for one in stream.entries if one.id in gone))
        keys.change(command[1], stream._replace(entries=rest, deleted=deleted))
    return len(stream.entries) - len(rest)


def info(keys: Keyspace, command: Command) -> Reply:
    """XINFO STREAM; the sizes of the server's trees are its secret."""
    if command[1].upper() != b"STREAM" or len(command) != 3:
        raise NotImplementedError("XINFO but of a STREAM")
    stream = stream_of(keys, command[2])
    if stream is None:
        raise Refused("ERR no such key")
    ends = [(shown(one.id), one.fields) for one in (*stream.entries[:1], *stream.entries[-1:])]
    first, last = ends or (None, None)
    said: list[tuple[bytes, Reply]] = [
        (b"length", len(stream.entries)),
        (b"radix-tree-keys", 1),
        (b"radix-tree-nodes", 2),
        (b"last-generated-id", shown(stream.last)),
        (b"max-deleted-entry-id", shown(stream.deleted)),
        (b"entries-added", stream.added),
        (b"recorded-first-entry-id", shown(stream.entries[0].id if stream.entries else (0, 0))),
        (b"groups", len(stream.groups)),
        (b"first-entry", first),
        (b"last-entry", last),
    ]
    return tuple(word for pair in said for word in pair)


def set_id(keys: Keyspace, command: Command) -> Reply:
    """XSETID, with ENTRIESADDED."""
    _, key, text, *options = command
    last = read_id(text, 0)
    added = None
    if options:
        if len(options) != 2 or options[0].upper() != b"ENTRIESADDED":
            raise NotImplementedError("XSETID with options other than ENTRIESADDED")
        added = integer(options[1])
        if added < 0:
            raise Refused("ERR entries_added must be positive")
    stream = stream_of(keys, key)
    if stream is None:
        raise Refused("ERR no such key")
    if last < stream.deleted or (stream.entries and last < stream.entries[-1].id):
        raise Refused("ERR The ID specified in XSETID is smaller than what was there")
    if stream.entries and added is not None and added < len(stream.entries):
        raise Refused("ERR The entries_added specified in XSETID is smaller than the length")
    keys.amend(key, stream._replace(last=last, added=stream.added if added is None else added))
    return OK
