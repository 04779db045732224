"""The lab behind a token: a client that shows it is let in for the day; all others are refused."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from app import create_lab
from app.bootstrap import Services
from app.config import Settings
from tests.support.http_client import problem

RUNS_ON = ["valkey"]  # it asks no store
HTML = {"Accept": "text/html"}
WORD = "only for teachers"
PATHS = ["/", "/classroom", "/classroom/events", "/rounds/apple", "/runs/x/events", "/about", "/no"]


@pytest.fixture
def lab(services: Services, settings: Settings) -> FlaskClient:
    asking = Settings(**{**vars(settings), "lab_host": "0.0.0.0", "lab_token": WORD})
    return create_lab(asking).test_client()


@pytest.mark.parametrize("shown", ["", "?token=", "?token=only", "?token=%C3%A9%F0%9F%8D%8E"])
@pytest.mark.parametrize("path", PATHS)
def test_without_the_token_nothing_is_shown(lab: FlaskClient, path: str, shown: str) -> None:
    refused = problem(lab.get(path + shown, headers={"Accept": "application/json"}), 403)
    assert "behind a token" in refused["detail"]
    page = lab.get(path + shown, headers=HTML)
    assert page.status_code == 403
    assert WORD not in page.text


def test_nobody_presses_a_button_without_it(lab: FlaskClient, services: Services) -> None:
    round = {"item": "apple", "stock": 1, "mode": "watch"}
    for path in ("/rounds", f"/rounds?token={WORD}", "/classroom/sale", "/classroom/close/1"):
        problem(lab.post(path, json=round), 403)
    assert services.rounds.newest("apple") is None


def test_the_first_visit_leaves_it_in_a_cookie(lab: FlaskClient) -> None:
    first = lab.get("/classroom", query_string={"token": WORD, "language": "en"}, headers=HTML)
    assert (first.status_code, first.headers["Location"]) == (303, "/classroom?language=en")
    cookie = first.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert lab.get("/classroom", headers=HTML).status_code == 200
    other = "http://192.168.1.7:8001"
    assert lab.get("/about", base_url=other).status_code == 403, "each of our names asks once"
    assert lab.get("/about", base_url=other, query_string={"token": WORD}).status_code == 303
    assert lab.get("/about", base_url=other).status_code == 200


def test_it_leads_to_no_other_host(lab: FlaskClient) -> None:
    two_slashes = {"PATH_INFO": "//elsewhere.example/x"}
    answer = lab.get("/", query_string={"token": WORD}, environ_overrides=two_slashes)
    assert answer.headers["Location"] == "/elsewhere.example/x"


def test_what_tells_nothing_is_open(lab: FlaskClient) -> None:
    assert lab.get("/healthz").status_code == lab.get("/readyz").status_code == 200
    with lab.get("/static/design.css") as answer:
        assert answer.status_code == 200


def test_on_loopback_nothing_is_asked_and_only_our_names_are_answered(
    services: Services, settings: Settings
) -> None:
    lab = create_lab(settings).test_client()
    assert lab.get("/about").status_code == 200
    assert lab.get("/about", headers={"Host": "elsewhere.example"}).status_code == 400
