"""KEYS and the SCANs: all keys or members at once.

A server scans its tables in an unknown order, a few entries at a time. If all of them fit into one
page, the server returns them at once, and so does the model, in alphabetical order. For more, the
model raises an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from badluck.model.collections import fields_of, hash_of, members_of
from badluck.model.generic import TYPES
from badluck.model.keyspace import Keyspace
from badluck.model.parsing import SYNTAX, CommandRefused, integer
from badluck.model.sorted_sets import in_order, scores_of, shown
from badluck.model.values import Command, Reply

PAGE = 10  # COUNT, by default
PACKED = 128  # so many members of a hash or sorted set come at once, whatever COUNT is
PACKED_BYTES = 64  # and each may be so long
LAST_CURSOR = 2**64 - 1


def keys_(keys: Keyspace, command: Command) -> Reply:
    """KEYS."""
    wanted = glob(command[1])
    return tuple(key for key in sorted(keys.entries) if keys.get(key) and wanted.fullmatch(key))


def scan(keys: Keyspace, command: Command) -> Reply:
    _cursor(command[1])
    count, wanted, kind = _options(list(command[2:]), of_keys=True)
    _one_page("SCAN", len(keys.entries), count)
    return b"0", tuple(
        key
        for key, entry in sorted(keys.entries.items())
        if keys.get(key) and wanted.fullmatch(key) and kind in {None, TYPES[type(entry.value)]}
    )


def scan_in(keys: Keyspace, command: Command) -> Reply:
    """SSCAN, HSCAN, ZSCAN."""
    name, key, cursor, *options = command
    _cursor(cursor)
    pairs = _pairs(keys, name, key)
    if not pairs:
        return b"0", ()
    count, wanted, _ = _options(options, of_keys=False)
    packed = len(pairs) <= PACKED and max(map(len, sum(pairs, ()))) <= PACKED_BYTES
    gone = 0
    if name == b"HSCAN" and (table := hash_of(keys, key)).expires is not None:
        packed, gone = False, len(table.gone)
    if name == b"SSCAN" or not packed:
        _one_page(name.decode(), len(pairs) + gone, count)
    return b"0", tuple(word for words in pairs if wanted.fullmatch(words[0]) for word in words)


def _pairs(keys: Keyspace, name: bytes, key: bytes) -> list[tuple[bytes, ...]]:
    if name == b"SSCAN":
        return [(member,) for member in sorted(members_of(keys, key))]
    if name == b"HSCAN":
        return list(fields_of(keys, key).items())
    return [(member, shown(score)) for member, score in in_order(scores_of(keys, key))]


def _cursor(text: bytes) -> None:
    """Accept no cursor except 0: the model's replies never name another."""
    if not re.fullmatch(rb"\d+", text) or int(text) > LAST_CURSOR:
        raise CommandRefused("ERR invalid cursor")
    if int(text):
        raise NotImplementedError(f"a SCAN that continues from {text.decode()}")


def _one_page(name: str, size: int, count: int) -> None:
    if size >= count:
        raise NotImplementedError(f"{name} of {size} with COUNT {count}, in several pages,")


def _options(words: list[bytes], of_keys: bool) -> tuple[int, re.Pattern[bytes], str | None]:
    """Read COUNT, MATCH and TYPE."""
    count, wanted, kind = PAGE, glob(b"*"), None
    while words:
        word = words.pop(0).upper()
        if word == b"NOVALUES":
            raise NotImplementedError("HSCAN with NOVALUES")
        if not words or word not in {b"COUNT", b"MATCH", *([b"TYPE"] if of_keys else [])}:
            raise CommandRefused(SYNTAX)
        value = words.pop(0)
        if word == b"COUNT":
            count = integer(value)
            if count < 1:
                raise CommandRefused(SYNTAX)
        elif word == b"MATCH":
            wanted = glob(value)
        else:
            kind = value.lower().decode()
            if kind not in TYPES.values():
                raise NotImplementedError(f"SCAN with TYPE {kind}")
    return count, wanted, kind


@cache
def glob(pattern: bytes) -> re.Pattern[bytes]:
    r"""Convert a server's pattern: * ? [abc] [^abc] [a-c], and \ before a literal character."""
    return re.compile(b"".join(_parts(pattern)), re.DOTALL)


def _parts(pattern: bytes) -> Iterable[bytes]:
    known = re.compile(rb"\*+|\?|\[(\^?)((?:\\.|[^\]])*)\]|\\?(.)|\\", re.DOTALL)
    for match in known.finditer(pattern):
        text = match[0]
        if text.startswith(b"*"):
            yield b".*"
        elif text == b"?":
            yield b"."
        elif match[2] is not None:
            yield _one_of(match[2], bool(match[1]))
        elif match[3] == b"[" and text == b"[":
            raise NotImplementedError(f"the pattern {pattern.decode()}")
        else:
            yield re.escape(match[3] if match[3] is not None else text)


def _one_of(inside: bytes, other: bool) -> bytes:
    if not inside:  # an empty set matches nothing
        return b"." if other else b"(?!)"
    ranges = []
    for low, high, single in re.findall(rb"(?s)(?:\\?(.)-\\?(.))|\\?(.)", inside):
        ends = (single, single) if single else (min(low, high), max(low, high))
        ranges.append(b"-".join(map(re.escape, ends)))
    return b"[%s%s]" % (b"^" if other else b"", b"".join(ranges))
