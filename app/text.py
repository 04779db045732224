"""Texts for people that know their template and values. The lowest layer: it has no catalogue."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

# Of 1 (difflib): `lease` is like `lock:lease`, `lock:durian` is not like `lock:db_unique`.
ALIKE = 0.65


class Text(str):
    """A finished English text which remembers its template and values.

    Command line, logs and JSON use it as the `str` it is; the web looks the template up in the
    visitor's language and fills it in again (app/server/translation.py). Whole numbers get
    separated thousands; give a number that is a name (a round's) as a string. Values may be Texts,
    too, or lists that are to be joined. A template without values is left unchanged, so that it may
    contain a %.
    """

    template: str
    many: str  # the template for all numbers except 1; "": there is only one template
    values: dict[str, Any]

    def __new__(cls, template: str, **values: Any) -> Text:
        return cls._made(template, "", values)

    @classmethod
    def _made(cls, template: str, many: str, values: dict[str, Any]) -> Text:
        chosen = many if many and values["num"] != 1 else template
        text = super().__new__(cls, fill(chosen, values))
        text.template, text.many, text.values = template, many, values
        return text

    def __deepcopy__(self, _: object) -> Text:
        return self  # dataclasses.asdict would make another one from its finished text


def counted(one: str, many: str, num: int, **values: Any) -> Text:
    """Return a Text with a form for 1 and one for all other `num`, which is one of its values."""
    return Text._made(one, many, values | {"num": num})


def together(one: str, other: str) -> Text:
    """Join two sentences: Chinese has no space between them."""
    return Text("%(one)s %(other)s", one=one, other=other)


def instead(name: str, known: Iterable[str]) -> Text:
    """Return what to write instead of an unknown name: the known one most like it, or all."""
    names = list(known)
    if close := get_close_matches(name.lower(), names, 1, ALIKE):
        return Text("Did you mean %(name)s?", name=close[0])
    return Text("There are %(known)s.", known=names)


def fill(template: str, values: dict[str, Any]) -> str:
    return (
        template % {name: _english(value) for name, value in values.items()} if values else template
    )


def _english(value: object) -> str:
    match value:
        case int():
            return f"{value:,}"
        case float():
            return f"{value:g}"
        case list():
            return ", ".join(map(_english, value))
    return str(value)
