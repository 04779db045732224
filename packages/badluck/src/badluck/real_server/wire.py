"""A plain client of a real server: commands out, replies in, and nothing by itself."""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import hiredis

from badluck.model.values import Command, Err, Reply

ANSWER = 5  # s to wait for any answer


class Wire:
    """Speaks RESP2 over a Unix socket and shows replies as the model does."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(None)
        # The system's own: Python's would ask it for data before each call.
        for limit in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            self.socket.setsockopt(socket.SOL_SOCKET, limit, struct.pack("ll", ANSWER, 0))
        try:
            self.socket.connect(str(path))
        except OSError:
            self.socket.close()
            raise
        self.reader = hiredis.Reader(notEnoughData=self)
        self.ready: list[Reply] = []  # received and unread

    def send(self, *commands: Command) -> None:
        """Send all of them at once."""
        text = []
        for command in commands:
            text.append(b"*%d\r\n" % len(command))
            text += [b"$%d\r\n%s\r\n" % (len(word), word) for word in command]
        self.socket.sendall(b"".join(text))

    def read(self) -> Reply:
        """Return a reply. Raises TimeoutError when none comes, ConnectionError when the server hung
        up.
        """
        if self.ready:
            return self.ready.pop(0)
        try:
            while (reply := self.reader.gets()) is self:
                self._feed()
        except BlockingIOError:
            raise TimeoutError(f"no answer within {ANSWER} s") from None
        return _plain(reply)

    def ask(self, command: Command) -> Reply:
        self.send(command)
        return self.read()

    def ask_all(self, commands: Sequence[Command]) -> list[Reply]:
        self.send(*commands)
        return [self.read() for _ in commands]

    def next(self) -> list[Reply]:
        """Return the oldest unread message, if there is any."""
        return [self.ready.pop(0)] if self.peek() else []

    def waiting(self) -> list[Reply]:
        """Return all unread messages."""
        replies, self.ready = self.peek(), []
        return replies

    def peek(self) -> list[Reply]:
        """Return the same, and keep them unread."""
        self._take()
        ready = self.ready
        while (reply := self.reader.gets()) is not self:
            ready.append(_plain(reply))
        return ready

    def _take(self) -> None:
        """Receive available bytes, without waiting."""
        with suppress(BlockingIOError):
            self._feed(socket.MSG_DONTWAIT)

    def _feed(self, flags: int = 0) -> None:
        came = self.socket.recv(65536, flags)
        if not came:
            raise ConnectionResetError("The server hung up.")
        self.reader.feed(came)

    def close(self) -> None:
        self.socket.close()


def _plain(reply: object) -> Reply:
    if isinstance(reply, list):
        return tuple(_plain(part) for part in reply)
    if isinstance(reply, hiredis.ReplyError):
        return Err(str(reply))
    if isinstance(reply, bytes | int) or reply is None:
        return reply
    raise TypeError(f"{type(reply).__name__} in a reply")
