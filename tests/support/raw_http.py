"""HTTP by hand, over plain sockets, and gunicorn with the small application of echo_app.py."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPResponse

from tests.support.servers import free_port, until


@contextmanager
def gunicorn(*options: str, connections: int) -> Iterator[int]:
    """Yield the port on which it listens; `connections` are the most that it holds."""
    port = free_port()
    command = [
        *(sys.executable, "-m", "gunicorn", "tests.support.echo_app:app"),
        *("--bind", f"127.0.0.1:{port}"),
        *("--worker-connections", str(connections), "--reuse-port", "--keep-alive", "30"),
        *("--no-control-socket", "--graceful-timeout", "1"),
    ]
    with subprocess.Popen([*command, *options], stderr=subprocess.DEVNULL) as server:
        try:
            until(lambda: _accepts(port), 20)
            yield port
        finally:
            server.terminate()


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), 10)


def answer(connection: socket.socket) -> tuple[int, bytes]:
    """Return (status, body) of the next answer."""
    response = HTTPResponse(connection)
    response.begin()
    return response.status, response.read()


def told(port: int, request: bytes) -> tuple[int, bytes]:
    """Return (status, body) for a client with this request."""
    with connect(port) as connection:
        connection.sendall(request)
        return answer(connection)
