"""The visitor's language: the one they chose, else the one their browser asks for.

A choice is a link: `?language=zh` on any page, remembered in a cookie. Shop and lab share it, as
cookies do not tell ports apart.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from flask import Flask, Response, g, request
from flask_babel import Babel
from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header

from app.server.addresses import host_in
from app.server.proxies import secure

LANGUAGES = {"en": "English", "zh": "简体中文"}  # the first is the code's own
TAGS = {"en": "en", "zh": "zh-Hans"}  # as HTML and HTTP name them
NAME = "language"  # of the query's field and of the cookie
YEAR = 365 * 86_400  # s
LONGEST = 2_000  # characters; a schedule in a link has some hundreds


def chosen() -> str:
    """Return a key of LANGUAGES. Called for every sentence of every answer, so it must be fast."""
    language: str | None = g.get(NAME)
    if language is None:
        wanted = request.args.get(NAME) if request.query_string else None
        if wanted not in LANGUAGES and "HTTP_COOKIE" in request.environ:
            wanted = request.cookies.get(NAME)
        if wanted not in LANGUAGES:
            wanted = _wanted(request.environ.get("HTTP_ACCEPT_LANGUAGE", ""))
        g.language = language = wanted
    return language


@lru_cache(maxsize=1_000)  # a class of browsers sends a handful of them
def _wanted(header: str) -> str:
    """Return the browser's first wish that we have: zh-CN, zh-Hans and zh-TW all find zh.

    Werkzeug's best_match would answer `zh-TW, en;q=0.5` with English, the only exact match.
    """
    for tag, quality in parse_accept_header(header, LanguageAccept):
        language = tag.lower().partition("-")[0]
        if quality and language in LANGUAGES:
            return language
    return "en"


def this_page_in(language: str) -> str:
    """Return a link to this page in a language; after a form, to the page of the form.

    If the address is longer than any of ours, the link leads to the front page: the page would
    contain the long address once for each language.
    """
    came = request.referrer or ""
    path, query = "/", list[tuple[str, str]]()
    if len(request.full_path) > LONGEST:
        pass
    elif request.method == "GET":
        path, query = quote(request.path), list(request.args.items(multi=True))
    elif host_in(came) == request.host != "":
        page = urlsplit(came)
        path, query = "/" + page.path.lstrip("/"), parse_qsl(page.query)
    query = [pair for pair in query if pair[0] != NAME]
    return f"{path}?{urlencode([*query, (NAME, language)])}"


def register(app: Flask) -> None:
    Babel(app, locale_selector=chosen)

    @app.context_processor
    def languages() -> dict[str, Any]:
        return {
            "lang": TAGS[chosen()],
            "languages": [
                {"name": name, "lang": TAGS[code], "href": this_page_in(code)}
                for code, name in LANGUAGES.items()
            ],
        }

    @app.after_request
    def remember(answer: Response) -> Response:
        wanted = request.args.get(NAME) if request.query_string else None  # a purchase has none
        if wanted in LANGUAGES:
            answer.set_cookie(NAME, wanted, YEAR, secure=secure(), samesite="Lax", httponly=True)
        if answer.mimetype == "text/html":
            answer.headers["Content-Language"] = TAGS[chosen()]
            answer.vary.update(("Accept-Language", "Cookie"))
        return answer
