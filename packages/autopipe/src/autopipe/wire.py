"""The shared connection: opened by redis-py, then written and read with as little as it takes."""

from __future__ import annotations

import math
import select
import socket
import time
from typing import Any, Protocol

import hiredis
import redis

NOTHING: Any = object()  # no whole reply is here: a reply may be anything, None too
READ_SIZE = 32_768  # bytes


class Wire(Protocol):
    """An open connection. Raises redis.ConnectionError, TimeoutError; then it is of no use."""

    @property
    def open(self) -> bool:
        """False: somebody here has closed it, with its pool."""

    def idle(self) -> bool:
        """Is it as we left it? Else the server has hung up, or said what nobody asked for."""

    def send(self, packet: bytes, deadline: float) -> None: ...

    def receive(self, deadline: float) -> bool:
        """Wait for something to read. False: nothing came in time (by time.monotonic())."""

    def reply(self) -> Any:
        """The next of those that are here, as bytes; NOTHING where none is. An error is a value."""

    def close(self) -> None: ...


def opened(connection: Any, deadline: float) -> Wire:
    """Connect it as redis-py does: TLS, password, database, its on_connect; each within the time.

    Raises redis.RedisError, redis.TimeoutError when it was too late.
    """
    usual = connection.socket_timeout, connection.socket_connect_timeout
    if deadline != math.inf:
        connection.socket_timeout = connection.socket_connect_timeout = _s_until(deadline)
    try:
        connection.connect()
    finally:
        connection.socket_timeout, connection.socket_connect_timeout = usual
    plain = type(connection._get_socket()) is socket.socket and hasattr(select, "poll")
    return Plain(connection) if plain else Layered(connection)


class Layered:
    """By redis-py's own layers: TLS, or whatever a connection is made of.

    A reply that comes in parts is waited for with the connection's own time-out.
    """

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        if link := connection._get_socket():
            link.settimeout(connection.socket_timeout)
            connection.update_parser_timeout(connection.socket_timeout)

    @property
    def open(self) -> bool:
        return bool(self.connection.is_connected)

    def idle(self) -> bool:
        try:
            return not self.connection.can_read(0)
        except (redis.ConnectionError, redis.TimeoutError):
            return False

    def send(self, packet: bytes, deadline: float) -> None:
        self.connection.send_packed_command([packet], check_health=False)

    def receive(self, deadline: float) -> bool:
        return bool(self.connection.can_read(None if deadline == math.inf else _s_until(deadline)))

    def reply(self) -> Any:
        if not self.connection.can_read(0):
            return NOTHING
        try:
            return self.connection.read_response(disable_decoding=True, disconnect_on_error=False)
        except redis.ResponseError as error:
            return error

    def close(self) -> None:
        self.connection.disconnect()


class Plain(Layered):
    """Over a socket: one system call to send, two to wait and read, and hiredis."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.socket: socket.socket = connection._get_socket()
        self.socket.setblocking(False)
        self._readable = select.poll()
        self._readable.register(self.socket, select.POLLIN)
        self._reader = hiredis.Reader(
            protocolError=redis.InvalidResponse,
            replyError=connection._get_parser().parse_error,
            notEnoughData=NOTHING,
        )

    @property
    def open(self) -> bool:
        return self.connection._get_socket() is self.socket

    def idle(self) -> bool:
        return not self._readable.poll(0)

    def send(self, packet: bytes, deadline: float) -> None:
        try:
            sent = self.socket.send(packet)
        except BlockingIOError:
            sent = 0
        except OSError as error:
            raise redis.ConnectionError(f"Error while writing to socket: {error}") from error
        if sent < len(packet):
            self._send_rest(memoryview(packet)[sent:], deadline)

    def _send_rest(self, rest: memoryview, deadline: float) -> None:
        writable = select.poll()
        writable.register(self.socket, select.POLLOUT)
        try:
            while rest:
                if not writable.poll(_ms_until(deadline)):
                    raise redis.TimeoutError("Timeout writing to socket")
                rest = rest[self.socket.send(rest) :]
        except OSError as error:
            raise redis.ConnectionError(f"Error while writing to socket: {error}") from error

    def receive(self, deadline: float) -> bool:
        try:
            if not self._readable.poll(_ms_until(deadline)):
                return False
            data = self.socket.recv(READ_SIZE)
        except (OSError, ValueError) as error:
            raise redis.ConnectionError(f"Error while reading from socket: {error}") from error
        if not data:
            raise redis.ConnectionError("Connection closed by server.")
        self._reader.feed(data)
        return True

    def reply(self) -> Any:
        reply = self._reader.gets()
        while isinstance(reply, hiredis.PushNotification):  # nobody has asked for it
            reply = self._reader.gets()
        return reply


def _s_until(deadline: float) -> float:
    return max(0.001, deadline - time.monotonic())


def _ms_until(deadline: float) -> float | None:
    return None if deadline == math.inf else _s_until(deadline) * 1000
