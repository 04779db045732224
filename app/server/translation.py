"""Translate all that a visitor reads, at the last moment.

Below this module all is English, and a Text knows its template. Jinja passes everything that a page
prints to `say`, and `_()` does so with its values; JSON passes its Texts (`dumps`). So no other
code has to deal with languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
from babel.lists import format_list
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import Translations
from flask import Flask
from flask_babel import format_currency, format_date, format_decimal, format_time, get_locale
from markupsafe import Markup

from app.server.language import LANGUAGES, chosen
from app.text import Text

FOLDER = Path(__file__).parents[1] / "translations"
COMMA = Text(", ")  # between the items of a plain list
COUNTED = re.compile(r"(?<=\d) (?=[^\W\d_])")  # the space between a number and a word


def say(value: Any) -> Any:
    """Return a Text in the visitor's language; any other value unchanged."""
    if not isinstance(value, Text):
        return value
    if chosen() == "en":
        return str(value)
    template = _look_up(value.template, value.many, value.values.get("num", 1))
    return template % _said(value.values) if value.values else template


def _look_up(one: str, many: str, num: int) -> str:
    words = catalogue(chosen())
    sentence: str = words.ungettext(one, many, num) if many else words.ugettext(one)
    return sentence


def _said(values: dict[str, Any]) -> dict[str, Any]:
    """Return values for a sentence: Texts translated, numbers as the language writes them."""
    return {name: _said_value(value) for name, value in values.items()}


def _said_value(value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return format_decimal(value)
    if isinstance(value, list):
        return say(COMMA).join(_said_value(each) for each in value)
    return say(value)


def _gettext(template: str, **values: Any) -> Markup:
    """Translate a template's text: its `_()`."""
    return _filled(_look_up(template, "", 1), values)


def _ngettext(one: str, many: str, num: int, **values: Any) -> Markup:
    return _filled(_look_up(one, many, num), {"num": num} | values)


def _filled(words: str, values: dict[str, Any]) -> Markup:
    """Fill in the values: our own words are HTML; the values are not, and get escaped."""
    return Markup(words) % _said(values)  # noqa: S704  a catalogue of ours


def dumps(document: Any) -> bytes:
    """Return JSON whose Texts are in the visitor's language."""
    return orjson.dumps(document, default=_plain, option=orjson.OPT_PASSTHROUGH_SUBCLASS)


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return str(say(value))
    raise TypeError(f"{type(value)} is no JSON")


def money(cents: int) -> str:
    text: str = format_currency(Decimal(cents) / 100, "EUR")
    return text


def moment(iso: str) -> str:
    """Return an ISO 8601 moment as a date and time in the visitor's language, in UTC.

    Babel's Chinese has the zone before the hour.
    """
    at = datetime.fromisoformat(iso)
    return f"{format_date(at, 'long')} {format_time(at, 'medium')} (UTC)"


def unbroken(text: Any) -> str:
    """Return a sentence whose numbers stay on one line with their units, as screen.js does."""
    sentence = say(text) or ""
    return type(sentence)(COUNTED.sub("\u00a0", sentence))


def listed(texts: Iterable[str]) -> str:
    """Return the texts as one list in the visitor's language: "A, B and C"."""
    return format_list([str(say(text)) for text in texts], locale=get_locale())


@cache
def catalogue(language: str) -> Translations:
    """Read a language's catalogue from its text: a compiled copy could be stale or missing."""
    if language == "en":
        return Translations()  # gives every text back as it is
    with (FOLDER / language / "LC_MESSAGES" / "messages.po").open("rb") as source:
        messages = read_po(source, locale=language)
    compiled = BytesIO()
    write_mo(compiled, messages)
    compiled.seek(0)
    return Translations(compiled)


def register(app: Flask) -> None:
    for language in LANGUAGES:
        catalogue(language)  # loaded now, so that the first visitor does not wait
    app.jinja_env.finalize = say
    app.jinja_env.globals.update(gettext=_gettext, ngettext=_ngettext)
    app.jinja_env.filters["listed"] = listed
    app.jinja_env.filters["moment"] = moment
    app.jinja_env.filters["unbroken"] = unbroken
