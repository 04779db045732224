"""Pages requested in Chinese, and a check that none of their text is left in English."""

from __future__ import annotations

from collections.abc import Iterator

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.support.page_text import Page, english

ZH = {"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.8"}
HTML = {"Accept": "text/html", **ZH}
JSON = {"Accept": "application/json", **ZH}
NO_PAGES = {"/static/<path:filename>", "/items", "/healthz", "/readyz", "/about", "/openapi.json"}
NO_PAGES |= {"/rounds/<item>/<int:number>/audit", "/runs/<id>/events", "/class/state"}
NO_PAGES |= {"/comparisons/<id>/events", "/classroom/events", "/metrics"}
NO_PAGES |= {"/rounds/<item>/<int:number>/holds"}


def only_chinese(answer: TestResponse, status: int = 200) -> None:
    assert answer.status_code == status, answer.text
    page = Page(answer.text)
    assert (page.lang, answer.headers["Content-Language"]) == ("zh-Hans", "zh-Hans")
    if "Content-Disposition" not in answer.headers:  # a download has no links
        assert 'hreflang="en"' in answer.text, "the way back to English"
    left = {text: words for text in page.texts if (words := english(text))}
    assert not left, left


def pages(client: FlaskClient, examples: dict[str, list[str]]) -> Iterator[str]:
    """Yield every page that `client` has. Fails for one without an example."""
    for rule in client.application.url_map.iter_rules():
        if "GET" in (rule.methods or ()) and rule.rule not in NO_PAGES:
            assert rule.rule in examples, f"give an address of {rule.rule}, or say: no page"
            yield from examples[rule.rule]
