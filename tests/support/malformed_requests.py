"""Invalid requests to every route of an application, drawn from a seed.

Each starts as a valid one (a known item, the route's fields). Then one to three places are spoilt,
so that it gets far before it is refused. New routes are found in the application's map; their
fields are among the words of app/server (WORDS).
"""

from __future__ import annotations

import ast
import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlencode

from flask import Flask
from werkzeug.routing import Rule

from tests.support.invalid_values import BODIES, HEADERS, METHODS, NUMBERS, PARTS, TEXTS

APP = Path(__file__).parents[2] / "app"
WORDS = sorted(
    {
        node.value
        for room in ("lab", "server", "shop")
        for file in (APP / room).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch("[a-z_]{3,12}", node.value)
    }
)
# Values of a valid request. No time in it is long: a purchase that thinks for a minute would look
# like a hang.
ROUND: dict[str, Any] = {
    **{"item": "pear", "stock": 5, "mode": "atomic", "think_ms": 0, "wait_ms": 50},
    **{"attempts": 2, "limit": 3, "delay_ms": 0},
}
CROWD: dict[str, Any] = {"buyers": 0, "seconds": 1}
FIELDS: dict[str, dict[str, Any]] = {
    "shop.buy": {"quantity": 1, "key": "a-key"},
    "class.join": {"name": "Ann"},
    "lab.start": ROUND,
    "stampede.start": ROUND | CROWD,
    "compare.start": ROUND | CROWD | {"modes": ["naive", "watch"], "reference": "watch"},
    "classroom.start": {name: ROUND[name] for name in ("stock", "mode", "think_ms", "delay_ms")},
    "classroom.names": {"hide": "somebody"},
}
# Below these a valid request would start processes: the number of buyers stays bad.
STAYS_BAD = ("/runs", "/comparisons", "/explorer/", "/transactions")
TOO_BAD = (0, -1, 10**9, 2**63, 10**30, "x", "", None, 1.5, [0], {"a": 1})  # also as a form's


class Bad(NamedTuple):
    """One request. Path and query are percent-encoded, headers and body as they are on the wire."""

    endpoint: str
    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes

    def environ(self) -> dict[str, Any]:
        """Return the environment that gunicorn makes of such a request."""
        environ: dict[str, Any] = {
            "REQUEST_METHOD": self.method,
            "SCRIPT_NAME": "",
            "PATH_INFO": unquote_to_bytes(self.path).decode("latin-1"),
            "RAW_URI": self.path,
            "QUERY_STRING": self.query,
            "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": "8000",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_LENGTH": str(len(self.body)),
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http",
            "wsgi.input": BytesIO(self.body),
            "wsgi.errors": BytesIO(),
            "wsgi.multithread": True,
            "wsgi.multiprocess": True,
            "wsgi.run_once": False,
        }
        for name, value in self.headers.items():
            key = name.upper().replace("-", "_")
            environ[key if key.startswith("CONTENT_") else f"HTTP_{key}"] = value
        return environ

    def __str__(self) -> str:
        target = f"{self.path}?{self.query}" if self.query else self.path
        return f"{self.method} {target[:300]} {str(self.headers)[:600]} {self.body[:200]!r}"


class Spoiler:
    def __init__(self, app: Flask, known: Mapping[str, Sequence[str]], seed: int) -> None:
        """`known`: what really exists, by the name of the path's part (item, number, id …)."""
        self.rules = sorted(app.url_map.iter_rules(), key=lambda rule: (rule.rule, rule.endpoint))
        self.known = known
        self.random = random.Random(seed)
        self.turn = 0

    def next(self) -> Bad:
        """Return the next request; every route has its turn."""
        rule = self.rules[self.turn % len(self.rules)]
        self.turn += 1
        methods = sorted((rule.methods or {"GET"}) - {"OPTIONS", "HEAD"}) or ["GET"]
        parts = ["path", "query", "headers", "headers"] + ["body", "body"] * ("POST" in methods)
        spoilt = set(self.random.sample(parts, self.random.choice((1, 2, 2, 3))))
        method = self.random.choice(methods)
        if self.random.random() < 0.1:
            method = self.random.choice(METHODS)
        path = self.path(rule, "path" in spoilt)
        stays_bad = path.replace("//", "/").startswith(STAYS_BAD)
        query = self.query("query" in spoilt, stays_bad)
        headers, body = self.body(rule.endpoint, "body" in spoilt, stays_bad)
        if method != "POST" and self.random.random() < 0.9:
            headers, body = {}, b""
        headers |= {"Host": "127.0.0.1:8000", "Accept": self.random.choice(HEADERS["Accept"][:2])}
        if "headers" in spoilt:
            for name in self.random.sample(list(HEADERS), self.random.choice((1, 2, 4, 8))):
                headers[name] = self.random.choice(HEADERS[name])
        return Bad(rule.endpoint, method, path, query, headers, body)

    def path(self, rule: Rule, spoilt: bool) -> str:
        """Return a path with each part of the rule filled in; spoilt are some of the parts, or all
        of it.
        """
        names = sorted(rule.arguments)
        wrong = set(self.random.sample(names, self.random.randint(1, len(names)))) if names else ""

        def fill(part: re.Match[str]) -> str:
            name = part[1].rpartition(":")[2]
            if spoilt and name in wrong:
                return quote_from_bytes(self.random.choice(PARTS), safe="")
            return quote_from_bytes(self.random.choice(self.known[name]).encode(), safe="/")

        path = re.sub("<([^>]+)>", fill, rule.rule)
        if spoilt and not names:
            end = quote_from_bytes(self.random.choice(PARTS), safe="/")
            path = self.random.choice((f"{path}{end}", f"{path}/{end}", f"/{path}"))
        return path

    def query(self, spoilt: bool, stays_bad: bool) -> str:
        fields: dict[str, Any] = {}
        if spoilt:
            names = self.random.sample(WORDS, self.random.randint(1, 6))
            fields = {name: self.value() for name in [*names, self.random.choice(ASKED)]}
        if stays_bad:
            fields["buyers"] = self.random.choice(TOO_BAD)
        query = urlencode({name: str(value) for name, value in fields.items()}, errors="replace")
        return query + (self.random.choice(("", "", "&%", "&=&", "&x=%ff%00")) if spoilt else "")

    def body(self, endpoint: str, spoilt: bool, stays_bad: bool) -> tuple[dict[str, str], bytes]:
        """Return (its headers, the bytes)."""
        fields = dict(FIELDS.get(endpoint) or {self.random.choice(WORDS): self.value()})
        if spoilt and self.random.random() < 0.3:
            kind, body = self.random.choice(BODIES)
            return {"Content-Type": kind}, body
        if spoilt:
            for name in self.random.sample(list(fields), self.random.randint(1, len(fields))):
                fields[name] = self.value()
            if self.random.random() < 0.2:
                fields[self.random.choice(WORDS)] = self.value()
            if self.random.random() < 0.2:
                del fields[self.random.choice(list(fields))]
        if stays_bad:
            fields["buyers"] = self.random.choice(TOO_BAD)
        if self.random.random() < 0.5:
            return {"Content-Type": "application/json"}, json.dumps(fields).encode()
        form = urlencode(fields, doseq=True, errors="replace").encode()
        return {"Content-Type": "application/x-www-form-urlencoded"}, form

    def value(self) -> Any:
        draw: Callable[[], Any] = self.random.choice(
            (
                lambda: self.random.choice(NUMBERS),
                lambda: str(self.random.choice(NUMBERS)),
                lambda: self.random.choice(TEXTS),
                lambda: self.random.choice((None, True, [], {}, [1, "a"], {"a": {}}, 1.5, 1e308)),
            )
        )
        return draw()


ASKED = [
    *("page", "step", "finding", "moves", "buyers", "crash", "language", "token", "left", "right"),
    *("address", "modes", "stock"),
]
