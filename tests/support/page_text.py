"""The text that a person reads on a page, and its words that are left in English."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from app.domain import ITEMS
from app.locks import LOCKS
from app.modes import MODES

SPOKEN = {"alt", "aria-label", "aria-description", "placeholder", "title"}
VOID = {"br", "hr", "img", "input", "link", "meta", "rect", "path"}
# Words in lower case that are the same in every language: names, code, products.
SAME = {*ITEMS, *MODES, *LOCKS, "https", "application", "json", "lastapple", "pip", "install"}
SAME |= {"units", "version", "owner", "store", "lua", "sell", "make", "nil"}
SAME |= {"cookie", "OpenAPI", "Allow", "Authorization", "Bearer", "Prometheus", "postgresql"}
SAME |= {"ZooKeeper", "Redlock", "SQLite", "PostgreSQL", "Jedis", "Valkey", "Locust"}
SAME |= {"joynet", "crossoverJie", "haozlee", "redis", "py"}  # authors of tutorials; redis-py
# Sent values; names; titles of texts; paths and addresses; options of commands; ids of requests.
NO_WORDS = re.compile(
    r"'[^']*'|`[^`]*`|[“][^”]*[”]|《[^》]*》|https?:\S+|[A-Za-z._]*/\S+|--[a-z-]+|\b[0-9a-f]{16}\b"
)
WORD = re.compile(r"[A-Za-z_]*[a-z]{2,}[A-Za-z_]*")  # GET and BUSY are names, too


class Page(HTMLParser):
    """A page's texts as a reader gets them, without code and without what is marked as English."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.open: list[bool] = []  # for each open element: is it silent?
        self.lang = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "html":
            self.lang = given.get("lang") or ""
        else:
            self.texts += [given[name] or "" for name in SPOKEN & given.keys()]
        if tag not in VOID:
            self.open.append(tag in ("code", "script", "style") or given.get("lang") == "en")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.texts += [value or "" for name, value in attrs if name in SPOKEN]

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if data.strip() and not any(self.open):
            self.texts.append(" ".join(data.split()))


def english(text: str) -> list[str]:
    """Return the English words of a translated text."""
    return [word for word in WORD.findall(NO_WORDS.sub("", text)) if word not in SAME]
