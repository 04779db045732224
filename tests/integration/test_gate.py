"""The shop's gunicorn worker before a small application: which requests it lets in, and when."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from http.client import HTTPConnection

import psutil
import pytest

from tests.support.raw_http import answer, connect, gunicorn, told
from tests.support.servers import until

pytestmark = pytest.mark.timed

MOST = 20  # connections
THREADS = 2
LIMIT = 8  # s until an honest client is served: a slow one keeps its place for longer
POST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
ASK = b"GET /%s HTTP/1.1\r\nHost: x\r\n\r\n"
GET = b"GET /?%d HTTP/1.1\r\nHost: x\r\n\r\n"
CLOSE = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
LARGE = 1_000_000


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    gate = (
        "--worker-class",
        "app.server.gate.Gate",
        "--no-sendfile",
        "-c",
        "python:app.shop.worker",
    )
    with gunicorn(*gate, *("--threads", str(THREADS)), connections=MOST) as port:
        yield port


def served(port: int) -> float:
    """Return the seconds until an honest new client has the answer."""
    start = time.monotonic()
    assert told(port, POST) == (200, b"hello")
    return time.monotonic() - start


def test_a_request_may_come_byte_by_byte(port: int) -> None:
    with connect(port) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(2):
            for byte in POST:
                connection.sendall(bytes([byte]))
            assert answer(connection) == (200, b"hello")


def test_requests_in_one_packet_are_answered_in_order(port: int) -> None:
    with connect(port) as connection:
        connection.sendall(POST + GET % 7 + POST[:-2])
        file = connection.makefile("rb")
        read = b""
        while read.count(b"HTTP/1.1 200") < 2 or not read.endswith(b"x" * 7):
            read += file.read1()
        assert read.index(b"\r\n\r\nhello") < read.index(b"\r\n\r\nxxxxxxx")
        connection.sendall(POST[-2:])
        assert answer(connection) == (200, b"hello")


def test_who_asks_on_before_the_answer_is_not_listened_to_until_then(port: int) -> None:
    """Otherwise the poller would report it repeatedly: the loop would spin until the answer."""
    before = cpu(port)
    with connect(port) as connection:
        connection.sendall(ASK % b"slow")
        time.sleep(0.1)  # of the half second that it takes
        connection.sendall(POST)
        file = connection.makefile("rb")
        read = b""
        while not read.endswith(b"hello"):
            read += file.read1()
        connection.sendall(POST)
        assert answer(connection) == (200, b"hello"), "it is listened to again"
    assert read.index(b"slow") < read.index(b"hello")
    assert cpu(port) - before < 0.2


@pytest.mark.parametrize(
    ("status", "request_"),
    [
        (400, b"GET / HTTP/1.1\nHost: x\n\n"),
        (400, b"nonsense\r\n\r\n"),
        (400, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 4\r\n\r\nhello"),
        (400, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n"),
        (400, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: five\r\n\r\n"),
        (400, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5,5\r\n\r\nhello"),
        (400, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \xb2\r\n\r\n"),
        (411, b"POST /told HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"),
        (413, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 16385\r\n\r\n"),
        (413, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n"),
        (417, POST.replace(b"Host: x", b"Host: x\r\nExpect: wonders")),
        (431, b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: %s\r\n" % (b"x" * 1000) * 17 + b"\r\n"),
        (431, b"G" * 17_000),
    ],
)
def test_what_has_no_end_or_is_too_large_is_refused(
    port: int, status: int, request_: bytes
) -> None:
    """At once: a rejected body is not waited for."""
    start = time.monotonic()
    with connect(port) as connection:
        connection.sendall(request_)
        assert answer(connection)[0] == status
        assert not connection.recv(1), "no further request begins where we could tell"
    assert time.monotonic() - start < LIMIT


def test_the_largest_body_is_taken(port: int) -> None:
    body = b"x" * 16 * 1024
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
    assert told(port, head + body) == (200, body)


def test_a_client_that_asks_is_told_to_go_on(port: int) -> None:
    head = POST.replace(b"Host: x", b"Host: x\r\nExpect: 100-continue").removesuffix(b"hello")
    with connect(port) as connection:
        connection.sendall(head)
        assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"hello")
        assert connection.recv(15) == b"HTTP/1.1 200 OK", "it is told once"
    assert told(port, head.replace(b": 5", b": 16385"))[0] == 413, "not to send what is refused"


def test_no_thread_waits_for_a_slow_client(port: int) -> None:
    """Three times as many slow clients as there are threads, of each kind."""
    with ExitStack() as stack:
        for request in (b"", POST[:20], POST[:-1], GET % LARGE, CLOSE):
            for _ in range(3 * THREADS // 2):
                connection = stack.enter_context(connect(port))
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                connection.sendall(request)
        for _ in range(3):
            assert served(port) < LIMIT


def test_who_reads_slowly_gets_everything(port: int) -> None:
    with connect(port) as connection:
        connection.sendall(GET % LARGE)
        time.sleep(0.3)
        assert answer(connection) == (200, b"x" * LARGE)


def test_request_and_answer_have_a_limit_of_time(port: int) -> None:
    """Even with a byte now and then: a client that has begun gets an answer, a silent one is
    closed.
    """
    with connect(port) as slow, connect(port) as silent, connect(port) as unread:
        unread.sendall(GET % (9 * LARGE))
        slow.settimeout(0.2)
        start = time.monotonic()
        status = 0
        while not status:
            assert time.monotonic() - start < 60
            slow.sendall(b"x")
            with suppress(TimeoutError):
                status = answer(slow)[0]
        assert status == 408
        assert not silent.recv(1)
        time.sleep(1)
        assert rest(unread) < 9 * LARGE


def rest(connection: socket.socket) -> int:
    """Return the number of bytes until the connection is closed."""
    count = 0
    with suppress(ConnectionResetError):
        while piece := connection.recv(LARGE):
            count += len(piece)
    return count


def test_who_was_in_time_is_served_by_a_worker_that_stood_still(port: int) -> None:
    """Seen on a busy machine: a worker let a client in, got no CPU for a second, and reset it."""
    assert told(port, ASK % b"stall")[0] == 200
    assert told(port, POST) == (200, b"hello")


def test_who_comes_is_let_in_for_who_waits_longest(port: int) -> None:
    kept = HTTPConnection("127.0.0.1", port, timeout=10)
    with ExitStack() as stack:
        crowd = []
        for number in range(3 * MOST):
            crowd.append(stack.enter_context(connect(port)))
            if number % 10 == 0:
                assert served(port) < LIMIT
                # All ten have been let in by now: none of them is newer than this request.
                kept.request("POST", "/", b"hello")
                assert kept.getresponse().read() == b"hello"
        assert not crowd[0].recv(1), "the first of them is out"
    kept.close()
    until(lambda: connections(port) == 0)


def test_who_leaves_in_the_turn_in_which_he_speaks_is_counted_once(port: int) -> None:
    """Otherwise each of them would let in one connection more than is counted."""
    worker = psutil.Process(int(told(port, ASK % b"pid")[1]))
    until(lambda: connections(port) == 0)
    with ExitStack() as stack:
        crowd = [stack.enter_context(connect(port)) for _ in range(MOST - 1)]
        until(lambda: connections(port) == MOST - 1)
        for oldest in crowd[:5]:
            worker.suspend()
            stack.enter_context(connect(port))
            oldest.sendall(b"x")
            worker.resume()
            assert not rest(oldest)
        for _ in range(10):
            stack.enter_context(connect(port))
        assert served(port) < LIMIT
        assert connections(port) < MOST


def connections(port: int) -> int:
    return sum(
        each.laddr.port == port and each.status not in ("LISTEN", "TIME_WAIT")
        for each in psutil.net_connections("tcp4")
        if each.laddr and each.pid
    )


def test_out_of_files_it_lets_nobody_in_for_a_moment(port: int) -> None:
    """It neither ends nor spins; clients that come meanwhile are served afterwards."""
    before = cpu(port)
    with ExitStack() as stack:
        hungry = stack.enter_context(connect(port))
        hungry.sendall(ASK % b"files")
        time.sleep(0.5)  # of the second that it holds them
        came = [stack.enter_context(connect(port)) for _ in range(MOST // 2)]
        for connection in came:
            connection.sendall(POST)
        assert int(answer(hungry)[1]) > 100
        assert [answer(connection) for connection in came] == [(200, b"hello")] * len(came)
    assert cpu(port) - before < 0.5


def cpu(port: int) -> float:
    """Return the worker's CPU seconds; a new worker would have fewer."""
    return float(told(port, ASK % b"cpu")[1])
