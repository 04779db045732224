"""The lab's pages are compressed for clients that accept it, and only pages."""

from __future__ import annotations

import gzip

import pytest
from flask.testing import FlaskClient

RUNS_ON = ["valkey"]


def test_a_page_is_packed(lab: FlaskClient) -> None:
    html = {"Accept": "text/html"}
    plain = lab.get("/read/naive", headers=html)
    assert "Content-Encoding" not in plain.headers
    packed = lab.get("/read/naive", headers=html | {"Accept-Encoding": "br, gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == plain.data
    assert packed.content_length == len(packed.data) < plain.content_length / 3
    assert all("Accept-Encoding" in answer.vary for answer in (plain, packed))


@pytest.mark.parametrize("accepts", ["identity", "gzip;q=0", "br"])
def test_who_cannot_unpack_it_gets_it_plain(lab: FlaskClient, accepts: str) -> None:
    answer = lab.get("/read", headers={"Accept": "text/html", "Accept-Encoding": accepts})
    assert "Content-Encoding" not in answer.headers
    assert "<h1>" in answer.text


def test_programs_get_their_json_plain(lab: FlaskClient) -> None:
    answer = lab.get("/read", headers={"Accept-Encoding": "gzip"})
    assert answer.is_json
    assert "Content-Encoding" not in answer.headers
