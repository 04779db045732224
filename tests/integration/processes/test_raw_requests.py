"""Requests that no client library would send, over sockets: gunicorn reads their heads, not we."""

from __future__ import annotations

import re
import select
import socket
from contextlib import suppress
from urllib.parse import urlsplit

import pytest
import requests

from app.lab.slow_requests import LONGEST
from tests.support.shop import Shop

ANSWER = 30.0  # s for a whole head, whatever its content; a tenth is usual
GOOD = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
POST = GOOD.replace(b"GET /healthz", b"POST /noop") + b"Content-Type: application/json\r\n"
UNKNOWN_CODING = 501  # by RFC 9112, 6.1: gunicorn's answer to nonsense in Transfer-Encoding
BAD = {
    "no request": b"\r\n\r\n\r\n",
    "no version": b"GET /\r\n\r\n",
    "a version to come": b"GET / HTTP/9.9\r\nHost: a\r\n\r\n",
    "no method": b" / HTTP/1.1\r\nHost: a\r\n\r\n",
    "a method of signs": b"G@T / HTTP/1.1\r\nHost: a\r\n\r\n",
    "binary": bytes(range(256)) + b"\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a whole address": b"GET http://[ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    "an asterisk": b"OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    "two slashes": b"GET //[ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    "a path with NUL": b"GET /\0 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    "a path of 100 KB": b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
    "SCRIPT_NAME": GOOD + b"SCRIPT_NAME: /x\r\n\r\n",
    "PATH_INFO": GOOD + b"PATH_INFO: x\r\n\r\n",
    "NUL in a header": GOOD + b"X: a\0b\r\n\r\n",
    "a bare CR in a header": GOOD + b"X: a\rb\r\n\r\n",
    "a header without a colon": GOOD + b"nonsense\r\n\r\n",
    "a header without a name": GOOD + b": x\r\n\r\n",
    "a folded header": GOOD + b"X: a\r\n b\r\n\r\n",
    "a header of 100 KB": GOOD + b"X: " + b"a" * 100_000 + b"\r\n\r\n",
    "300 headers": GOOD + b"".join(b"X%d: a\r\n" % n for n in range(300)) + b"\r\n",
    "no Host": b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n",
    "two Hosts": GOOD + b"Host: evil\r\n\r\n",
    "a Host of 300 letters": GOOD.replace(b"127.0.0.1", b"a" * 300) + b"Accept: text/html\r\n\r\n",
    "a Host of no name": GOOD.replace(b"127.0.0.1", b"[") + b"Accept: text/html\r\n\r\n",
    "an untrusted Host": GOOD.replace(b"127.0.0.1", b"evil.example") + b"Accept: text/html\r\n\r\n",
    "a broken Referer": GOOD.replace(b"/healthz", b"/")
    + b"Accept: text/html\r\nReferer: http://[\r\n\r\n",
    "a broken Origin": POST + b"Origin: http://[\r\nContent-Length: 2\r\n\r\n{}",
    "two lengths": POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "a length of words": POST + b"Content-Length: two\r\n\r\n{}",
    "a length below zero": POST + b"Content-Length: -2\r\n\r\n{}",
    "a length beyond all": POST + b"Content-Length: 99999999999999999999999\r\n\r\n{}",
    "a length and chunks": POST
    + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "an unknown coding": POST + b"Transfer-Encoding: nonsense\r\n\r\n{}",
    "chunks that are none": POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
    "chunks twice": POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "an expectation": POST + b"Expect: wonders\r\nContent-Length: 2\r\n\r\n{}",
}


@pytest.mark.parametrize("server", ["url", "lab"])
@pytest.mark.parametrize("name", BAD)
def test_a_bad_head_is_refused_at_once(shop: Shop, name: str, server: str) -> None:
    """Or its connection is closed. 501 is for unknown codings."""
    answer = said(getattr(shop, server), BAD[name], ANSWER)
    status = int(match[1]) if (match := re.match(rb"HTTP/1\.\d (\d+)", answer)) else 0
    coding = b"Transfer-Encoding" in BAD[name]
    assert status < 500 or (coding and status == UNKNOWN_CODING), answer[:500]
    assert b"Traceback" not in answer


@pytest.mark.parametrize("server", ["url", "lab"])
def test_who_says_he_came_by_https_is_not_believed(shop: Shop, server: str) -> None:
    """gunicorn itself would believe it of any client on this machine."""
    asked = "/?language=en"  # both answer it with a cookie
    said = {"Accept": "text/html", "X-Forwarded-Proto": "https", "X-Forwarded-For": "6.6.6.6"}
    answer = requests.get(getattr(shop, server) + asked, headers=said, timeout=ANSWER)
    assert "language=en" in answer.headers["Set-Cookie"]
    assert "Secure" not in answer.headers["Set-Cookie"]


def test_a_body_that_never_comes_is_waited_for_so_long_only(shop: Shop) -> None:
    """And no other client waits for it meanwhile."""
    head = POST.replace(b"/noop", b"/rounds") + b"Content-Length: 100\r\n\r\n"
    silent = [connected(shop.lab, head + b'{"item": ') for _ in range(30)]
    assert requests.get(f"{shop.lab}/healthz", timeout=LONGEST).ok
    assert not select.select(silent, [], [], 0)[0], "it was answered before them"
    for each in silent:
        with each:
            each.settimeout(LONGEST + ANSWER)
            assert b" 408 " in each.recv(4096).partition(b"\r\n")[0]


def said(url: str, request: bytes, seconds: float) -> bytes:
    """Return all of the answer; fail if neither an answer nor the connection's end comes."""
    with connected(url, request) as client:
        client.settimeout(seconds)
        try:
            return client.recv(65_536)
        except ConnectionError:
            return b""


def connected(url: str, request: bytes) -> socket.socket:
    address = urlsplit(url)
    client = socket.create_connection((str(address.hostname), address.port or 80), timeout=5)
    with suppress(ConnectionError):  # it may have read enough, and answered
        client.sendall(request)
    return client
