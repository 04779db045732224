"""Commands on streams: what a writer sends and a reader without a group asks."""

from __future__ import annotations

from badluck.simulated.keyspace import Keyspace
from badluck.simulated.values import (
    SYNTAX,
    WRONG_TYPE,
    Command,
    Refused,
    Reply,
    Stream,
    StreamEntry,
    integer,
)

Id = tuple[int, int]
LAST = 2**64 - 1
BAD_ID = "ERR Invalid stream ID specified as stream command argument"


def _stream(keys: Keyspace, key: bytes) -> Stream | None:
    entry = keys.get(key)
    if entry is None:
        return None
    if not isinstance(entry.value, Stream):
        raise Refused(WRONG_TYPE)
    return entry.value


def shown(id: Id) -> bytes:
    return b"%d-%d" % id


def _id(text: bytes, sequence: int) -> Id:
    """`sequence` for an id that has none."""
    try:
        parts = [integer(part) for part in text.split(b"-", 1)]
    except Refused:
        raise Refused(BAD_ID) from None
    if min(parts) < 0:
        raise Refused(BAD_ID)
    return parts[0], parts[1] if len(parts) == 2 else sequence


def add(keys: Keyspace, command: Command) -> Reply:
    """XADD with an id of one's own or `*`; without trimming."""
    _, key, id, *fields = command
    if id.upper() in {b"NOMKSTREAM", b"MAXLEN", b"MINID"}:
        raise NotImplementedError(f"XADD with {id.decode()}")
    if not fields or len(fields) % 2:
        raise Refused("ERR wrong number of arguments for 'xadd' command")
    own = None if id == b"*" else _id(id, 0)
    if own == (0, 0):
        raise Refused("ERR The ID specified in XADD must be greater than 0-0")
    stream = _stream(keys, key) or Stream((0, 0), ())
    if own is None:
        own = max((keys.now, 0), (stream.last[0], stream.last[1] + 1))
    elif own <= stream.last:
        raise Refused(
            "ERR The ID specified in XADD is equal or smaller than the target stream top item"
        )
    entry = StreamEntry(own, tuple(fields))
    keys.change(key, Stream(own, (*stream.entries, entry)))
    return shown(own)


def length(keys: Keyspace, command: Command) -> Reply:
    stream = _stream(keys, command[1])
    return len(stream.entries) if stream else 0


def range_(keys: Keyspace, command: Command) -> Reply:
    """XRANGE and XREVRANGE, with COUNT."""
    name, key, start, stop, *options = command
    if name == b"XREVRANGE":
        start, stop = stop, start
    low, high = _bound(start, 0), _bound(stop, LAST)
    count = None
    if options:
        if len(options) != 2 or options[0].upper() != b"COUNT":
            raise Refused(SYNTAX)
        count = integer(options[1])
    stream = _stream(keys, key)
    if stream is None:
        return ()
    if count is not None and count <= 0:
        return None
    found = [entry for entry in stream.entries if low <= entry.id <= high]
    if name == b"XREVRANGE":
        found.reverse()
    return tuple((shown(entry.id), entry.fields) for entry in found[:count])


def _bound(text: bytes, sequence: int) -> Id:
    if text == b"-":
        return 0, 0
    if text == b"+":
        return LAST, LAST
    return _id(text, sequence)


def delete(keys: Keyspace, command: Command) -> Reply:
    gone = {_id(text, 0) for text in command[2:]}
    stream = _stream(keys, command[1])
    if stream is None:
        return 0
    rest = tuple(entry for entry in stream.entries if entry.id not in gone)
    if len(rest) < len(stream.entries):
        keys.change(command[1], Stream(stream.last, rest))
    return len(stream.entries) - len(rest)
