"""A JSON object that a user may have edited: each member is checked before it is used."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NoReturn

from badluck.errors import BadluckError


class Unreadable(BadluckError):
    """The value is not as expected; the text says where and why."""


class CheckedJson:
    """Each method raises Unreadable when a member is missing, or not as expected."""

    def __init__(self, value: Any, where: str) -> None:
        """`where` is the place of the object, for the message: `step 3`."""
        self.where = where
        if not isinstance(value, dict):
            self.refuse("no JSON object")
        self.members: dict[str, Any] = value

    def refuse(self, why: str) -> NoReturn:
        raise Unreadable(f"{self.where}{why}.")

    def one_of(self, name: str, known: Collection[Any]) -> Any:
        value = self._get(name)
        # By type as well: for Python True equals 1.
        if not any(type(value) is type(choice) and value == choice for choice in known):
            self.refuse(f"{name!r} is {_shown(value)}, and not {_either(known)}")
        return value

    def number(self, name: str, least: int, most: int) -> int:
        """Return an integer, `least` and `most` included."""
        value = self._get(name)
        if type(value) is not int or not least <= value <= most:
            self.refuse(f"{name!r} is {_shown(value)}, and no whole number of {least} to {most}")
        return value

    def text(self, name: str) -> str:
        value = self._get(name)
        if not isinstance(value, str):
            self.refuse(f"{name!r} is {_shown(value)}, and no text")
        return value

    def texts(self, name: str) -> list[str]:
        value = self._list(name)
        if not all(isinstance(text, str) for text in value):
            self.refuse(f"{name!r} holds something else than texts")
        return value

    def part(self, name: str) -> CheckedJson:
        """Return a member that is an object."""
        return CheckedJson(self._get(name), f"{self.where}{name}: ")

    def parts(self, name: str, called: str) -> Iterator[CheckedJson]:
        """Yield the objects of a list, each `called` so in messages."""
        for number, value in enumerate(self._list(name), 1):
            yield CheckedJson(value, f"{self.where}{called} {number}: ")

    def _list(self, name: str) -> list[Any]:
        value = self._get(name)
        if not isinstance(value, list):
            self.refuse(f"{name!r} is {_shown(value)}, and no list")
        return value

    def _get(self, name: str) -> Any:
        if name not in self.members:
            self.refuse(f"{name!r} is missing")
        return self.members[name]


def _shown(value: object) -> str:
    return f"{value!r:.60}"


def _either(known: Collection[Any]) -> str:
    return " or ".join(map(repr, known)) if len(known) < 4 else "one that it knows"
