"""Records: JSON in store or database that another version of us may read.

Each has a `version`; a record without one is of the first. Records of a newer version are not
guessed at, and neither is an unknown member: it may be the very one that forbids the next action.
So a new member has a default, so that old records stay readable; a member that changes its meaning
needs a new version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import cache
from types import UnionType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints, is_typeddict

import orjson

from app.domain.errors import Newer, Unreadable
from app.text import Text

VERSION = 1  # of all records together
TAIL = b',"version":%d}' % VERSION
BROKEN = Text("This record cannot be read: it is broken.")

Kind = TypeVar("Kind")


def encode(record: Any) -> bytes:
    """Encode a dataclass, its inner ones included, or a dict as a record."""
    return orjson.dumps(record)[:-1] + TAIL


def parse(text: bytes | str) -> Any:
    """Parse JSON. Raises Unreadable."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise Unreadable(Text("This record cannot be read: it is not JSON.")) from error


def decode(kind: type[Kind], text: bytes | str, **inner: Callable[[Any], Any]) -> Kind:
    """Decode a record of `encode`; `inner` makes members that are not plain values.

    Raises as `make` does.
    """
    return versioned(kind, parse(text), **inner)


def versioned(kind: type[Kind], members: Any, **inner: Callable[[Any], Any]) -> Kind:
    """Decode parsed JSON of a record. Raises as `make` does."""
    if not isinstance(members, dict):
        raise Unreadable(BROKEN)
    version = members.get("version", 1)
    if not isinstance(version, int) or version > VERSION:
        raise Newer
    made = members.copy()
    made.pop("version", None)
    return make(kind, made, **inner)


def make(kind: type[Kind], members: Any, **inner: Callable[[Any], Any]) -> Kind:
    """Make a dataclass from its members: a part of a record, without a version of its own.

    Raises Newer for a member that only a newer version knows, Unreadable for one that is missing or
    of another type.
    """
    if not isinstance(members, dict):
        raise Unreadable(BROKEN)
    types = _types(cast(type, kind))
    if not members.keys() <= types.keys():
        raise Newer
    made = members
    if inner:
        made = members | {name: inner[name](members[name]) for name in inner if name in members}
    for name, value in made.items():
        if type(value) in types[name]:  # most are
            continue
        if type(value) is bool or not isinstance(value, types[name]):  # True is an int, too
            raise Unreadable(
                Text("This record cannot be read: its %(name)s is of a wrong type.", name=name)
            )
    if lacking := _required(cast(type, kind)) - made.keys():
        names = sorted(lacking)
        raise Unreadable(Text("This record cannot be read: it lacks %(names)s.", names=names))
    return kind(**made)


@cache
def _types(kind: type) -> Mapping[str, tuple[type, ...]]:
    """Return the types that each member may have."""
    return {name: _plain(hint) for name, hint in get_type_hints(kind).items()}


@cache
def _required(kind: type) -> set[str]:
    """Return the members without a default."""
    return {
        each.name
        for each in fields(kind)
        if each.default is MISSING and each.default_factory is MISSING
    }


def _plain(hint: Any) -> tuple[type, ...]:
    parts = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    types = tuple(dict if is_typeddict(part) else get_origin(part) or part for part in parts)
    return (*types, int) if float in types else types
