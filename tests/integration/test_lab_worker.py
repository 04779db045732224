"""The lab's gunicorn worker before a small application: streams last, idle clients do not."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.support.raw_http import connect, gunicorn, told

pytestmark = pytest.mark.timed

MOST = 20  # connections
GET = b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with gunicorn("--worker-class", "app.lab.worker.LabWorker", connections=MOST) as port:
        yield port


def test_who_comes_is_let_in_for_who_waits_longest(port: int) -> None:
    with connect(port) as stream, ExitStack() as stack:
        stream.sendall(GET % b"/stream")
        assert stream.recv(100)
        crowd = []
        for number in range(3 * MOST):
            crowd.append(stack.enter_context(connect(port)))
            if number % 10 == 0:
                crowd[-1].sendall(GET[:10])
                start = time.monotonic()
                assert told(port, GET % b"/?5") == (200, b"xxxxx")
                assert time.monotonic() - start < 8
        assert not crowd[0].recv(1), "the first of them is out"
        time.sleep(0.2)
        while stream.recv(100_000).count(b"on") > 1:
            pass  # what has come meanwhile
        assert b"on" in stream.recv(100), "the stream goes on"


def test_a_request_has_a_limit_of_time(port: int) -> None:
    """Even if a byte comes now and then."""
    with connect(port) as slow:
        slow.settimeout(0.2)
        start = time.monotonic()
        while True:
            assert time.monotonic() - start < 60
            try:
                slow.sendall(b"x")
                assert not slow.recv(1)
                break
            except TimeoutError:
                continue
            except ConnectionError:
                break


def test_an_answer_that_nobody_reads_has_a_limit_of_time(port: int) -> None:
    with connect(port) as unread:
        unread.sendall(GET % b"/?20000000")
        time.sleep(1.5)
        count = 0
        while piece := unread.recv(1_000_000):
            count += len(piece)
        assert count < 20_000_000
