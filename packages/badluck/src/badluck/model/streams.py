"""Commands on streams: writing, and reading a range. Groups: groups.py."""

from __future__ import annotations

from typing import NamedTuple

from badluck.model.keyspace import Keyspace
from badluck.model.parsing import HIGHEST, SYNTAX, CommandRefused, Undefined, integer
from badluck.model.values import OK, Command, Reply, Stream, StreamEntry

Id = tuple[int, int]
LAST = 2**64 - 1
# One node of a server's tree holds at least so many entries, and bytes; each word takes some more.
NODE, NODE_SIZE, WORD = 100, 2_000, 16
BAD_ID = "ERR Invalid stream ID specified as stream command argument"


def shown(id: Id) -> bytes:
    return b"%d-%d" % id


def read_id(text: bytes, sequence: int) -> Id:
    """Read an id; `sequence` completes it. Raises CommandRefused, and Undefined for a sign or a
    space.
    """
    parts = text.split(b"-", 1)
    if any(part.lstrip(b"+- \t\r\n\v\f") != part for part in parts):
        raise Undefined(f"an id of a stream like {text.decode()}")
    if not all(part.isdigit() and int(part) <= LAST for part in parts):
        raise CommandRefused(BAD_ID)
    return int(parts[0]), int(parts[1]) if len(parts) == 2 else sequence


class Trim(NamedTuple):
    """Only the newest `max_entries` entries stay, or those from the id `lowest` on.

    `about`: a server removes only whole nodes of its tree.
    """

    max_entries: int | None = None
    lowest: Id = (0, 0)
    about: bool = False
    limit: int | None = None

    def kept(self, stream: Stream) -> tuple[StreamEntry, ...]:
        """Return the entries that stay. Raises Undefined if there is more than one node."""
        entries = stream.entries
        if self.max_entries is None:
            rest = tuple(entry for entry in entries if entry.id >= self.lowest)
        else:
            rest = entries[max(0, len(entries) - self.max_entries) :]
        if not self.about:
            return rest
        size = sum(WORD + len(word) for entry in entries for word in entry.fields)
        if stream.added > NODE or size > NODE_SIZE or stream.deleted > (0, 0):
            raise Undefined("trimming with ~ of a stream that is long, or had something deleted,")
        return entries if rest or 0 < (self.limit or 0) < len(entries) else ()


def read_trim(words: list[bytes]) -> Trim | None:
    """Take the options for trimming from the beginning of `words`, if there are any."""
    trim = None
    limit = None
    while len(words) > 1 and words[0].upper() in {b"MAXLEN", b"MINID", b"LIMIT"}:
        word = words.pop(0).upper()
        if word == b"LIMIT":
            limit = _at_least_zero(words.pop(0), word)
            continue
        if trim:
            raise CommandRefused("ERR syntax error, MAXLEN and MINID at the same time")
        about = len(words) > 1 and words[0] == b"~"
        if about or (len(words) > 1 and words[0] == b"="):
            words.pop(0)
        if word == b"MAXLEN":
            trim = Trim(_at_least_zero(words.pop(0), word), about=about)
        else:
            trim = Trim(lowest=read_id(words.pop(0), 0), about=about)
    if limit is not None and not (trim and trim.about):
        raise CommandRefused("ERR syntax error, LIMIT cannot be used without the special ~ option")
    return trim and trim._replace(limit=limit)


def _at_least_zero(text: bytes, name: bytes) -> int:
    number = integer(text)
    if number < 0:
        raise CommandRefused(f"ERR The {name.decode()} argument must be >= 0.")
    return number


def trim(keys: Keyspace, command: Command) -> Reply:
    """XTRIM."""
    _, key, *words = command
    how = read_trim(words)
    if how is None or words:
        raise CommandRefused(SYNTAX)
    stream = keys.value(key, Stream)
    if stream is None:
        return 0
    entries = how.kept(stream)
    if len(entries) < len(stream.entries):
        keys.change(key, stream._replace(entries=entries))
    return len(stream.entries) - len(entries)


def add(keys: Keyspace, command: Command) -> Reply:
    """XADD, with an id of one's own or `*`."""
    _, key, *words = command
    how = read_trim(words)
    creates = not words or words[0].upper() != b"NOMKSTREAM"
    if not creates:
        words.pop(0)
        how = how or read_trim(words)
    if len(words) < 3 or not len(words) % 2:
        raise CommandRefused("ERR wrong number of arguments for 'xadd' command")
    id, *fields = words
    if id.endswith(b"-*"):
        raise NotImplementedError(f"XADD with an id like {id.decode()}")
    own = None if id == b"*" else read_id(id, 0)
    if own == (0, 0):
        raise CommandRefused("ERR The ID specified in XADD must be greater than 0-0")
    current = keys.value(key, Stream)
    if current is None and not creates:
        return None
    stream = current or Stream((0, 0), ())
    if own is None:
        keys.told_time = True
        own = max((keys.now, 0), (stream.last[0], stream.last[1] + 1))
    elif own <= stream.last:
        raise CommandRefused(
            "ERR The ID specified in XADD is equal or smaller than the target stream top item"
        )
    if stream.added == HIGHEST:
        raise Undefined("a stream to which more was added than can be counted")
    entry = StreamEntry(own, tuple(fields))
    stream = stream._replace(last=own, entries=(*stream.entries, entry), added=stream.added + 1)
    if how:
        stream = stream._replace(entries=how.kept(stream))
    if stream.entries[-1:] != (entry,):  # Redis 7 wakes clients that wait for it, with nothing
        raise Undefined("XADD that trims away what it adds")
    keys.change(key, stream)
    return shown(own)


def range_(keys: Keyspace, command: Command) -> Reply:
    """XRANGE and XREVRANGE, with COUNT."""
    name, key, start, stop, *options = command
    if name == b"XREVRANGE":
        start, stop = stop, start
    low, high = bound(start, 0), bound(stop, LAST)
    count = None
    if options:
        if len(options) != 2 or options[0].upper() != b"COUNT":
            raise CommandRefused(SYNTAX)
        count = integer(options[1])
    stream = keys.value(key, Stream)
    if stream is None:
        return ()
    if count is not None and count <= 0:
        return None
    entries = [entry for entry in stream.entries if low <= entry.id <= high]
    if name == b"XREVRANGE":
        entries.reverse()
    return tuple((shown(entry.id), entry.fields) for entry in entries[:count])


def bound(text: bytes, sequence: int) -> Id:
    """Read a range's bound; `sequence` completes an id: 0 where it begins, LAST where it ends.

    Behind a `(` the id itself is left out.
    """
    if text.startswith(b"(") and len(text) > 1:
        return _adjacent(read_id(text[1:], sequence), before=sequence == LAST)
    if text == b"-":
        return 0, 0
    if text == b"+":
        return LAST, LAST
    return read_id(text, sequence)


def _adjacent(id: Id, before: bool) -> Id:
    ms, sequence = id
    if before:
        if id == (0, 0):
            raise CommandRefused("ERR invalid end ID for the interval")
        return (ms, sequence - 1) if sequence else (ms - 1, LAST)
    if id == (LAST, LAST):
        raise CommandRefused("ERR invalid start ID for the interval")
    return (ms, sequence + 1) if sequence < LAST else (ms + 1, 0)


def delete(keys: Keyspace, command: Command) -> Reply:
    gone = {read_id(text, 0) for text in command[2:]}
    stream = keys.value(command[1], Stream)
    if stream is None:
        return 0
    rest = tuple(entry for entry in stream.entries if entry.id not in gone)
    if len(rest) < len(stream.entries):
        deleted = max(stream.deleted, *(entry.id for entry in stream.entries if entry.id in gone))
        keys.change(command[1], stream._replace(entries=rest, deleted=deleted))
    return len(stream.entries) - len(rest)


def info(keys: Keyspace, command: Command) -> Reply:
    """XINFO STREAM; the sizes of the server's trees are unknown."""
    if command[1].upper() != b"STREAM" or len(command) != 3:
        raise NotImplementedError("XINFO but of a STREAM")
    stream = keys.value(command[2], Stream)
    if stream is None:
        raise CommandRefused("ERR no such key")
    ends = [
        (shown(entry.id), entry.fields) for entry in (*stream.entries[:1], *stream.entries[-1:])
    ]
    first, last = ends or (None, None)
    reply: list[tuple[bytes, Reply]] = [
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
    return tuple(word for pair in reply for word in pair)


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
            raise CommandRefused("ERR entries_added must be positive")
    stream = keys.value(key, Stream)
    if stream is None:
        raise CommandRefused("ERR no such key")
    if last < stream.deleted or (stream.entries and last < stream.entries[-1].id):
        raise CommandRefused("ERR The ID specified in XSETID is smaller than what was there")
    if stream.entries and added is not None and added < len(stream.entries):
        raise CommandRefused("ERR The entries_added specified in XSETID is smaller than the length")
    keys.amend(key, stream._replace(last=last, added=stream.added if added is None else added))
    return OK
