"""The explorer's pages in Chinese, with all texts of findings and schedules."""

from __future__ import annotations

from urllib.parse import parse_qsl

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.explorer.findings import FINDINGS
from tests.support.chinese_pages import HTML, JSON, ZH, only_chinese
from tests.support.http_client import problem
from tests.support.page_text import english
from tests.support.servers import until

SEARCHED = [
    "naive",
    "watch",
    "decr?crash=2&lost=1",
    "lock:lease",
    "lock:lease?finding=two%20holders&step=3",
    "lock:queue?failover=1",
    "lock:setnx?crash=0&pause=0",
    "atomic/scheduler?moves=AlB",
    "watch/scheduler?moves=AAAfBBB",
    "lock:lease/scheduler?moves=AApBBA",
    "naive/scheduler?moves=ABBBAA",
]


@pytest.fixture
def lab(explorer_lab: Flask) -> FlaskClient:
    return explorer_lab.test_client()


@pytest.mark.parametrize("address", SEARCHED)
def test_what_is_found(lab: FlaskClient, address: str) -> None:
    path, _, query = address.partition("?")
    lab.post(f"/explorer/{path}", data=dict(parse_qsl(query)), headers=HTML)

    def there() -> bool:
        answer = lab.get(f"/explorer/{address}", headers=HTML)
        only_chinese(answer)
        assert 'id="unasked"' not in answer.text
        return "还在查看" not in answer.text

    until(there, 40)


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("naive?step=99", 400),
        ("naive?finding=starved", 404),
        ("naive?buyers=9", 422),
        ("naive?crash=x&lost=9", 422),
        ("magic", 404),
        ("sql", 404),
        ("naive/scheduler?moves=At", 400),
        ("naive/scheduler?moves=hello", 400),
    ],
)
def test_links_that_cannot_be_followed(lab: FlaskClient, address: str, status: int) -> None:
    until(lambda: lab.get("/explorer/naive").status_code == 200, 20)
    only_chinese(lab.get(f"/explorer/{address}", headers=HTML), status)
    said = problem(lab.get(f"/explorer/{address}", headers=JSON), status)
    for text in (said["title"], said["detail"]):
        assert not english(text)
        assert not text.isascii()


def test_every_finding_has_its_words(lab: FlaskClient) -> None:
    template = lab.application.jinja_env.get_template("lab/explorer/words.html")
    with lab.application.test_request_context(headers=ZH):
        words = vars(template.make_module())
        for name in FINDINGS.keys() - {"starved"}:  # which is sent with --again only
            for said in (str(words["finding_name"](name)), str(words["finding_sentence"](name))):
                assert not english(said)
                assert not said.isascii()
