"""One client of a real server, as plain as can be: commands out, replies in, nothing by itself."""

from __future__ import annotations

import socket
from pathlib import Path

import hiredis

from app.explorer.model.values import Command, Err, Reply

ANSWER = 5.0  # s to wait for any answer


class Wire:
    """Speaks RESP2 over a Unix socket and shows replies as the model does."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(ANSWER)
        try:
            self.socket.connect(str(path))
        except OSError:  # the server is not there yet
            self.socket.close()
            raise
        self.reader = hiredis.Reader(notEnoughData=self)

    def send(self, command: Command) -> None:
        words = [b"$%d\r\n%s\r\n" % (len(word), word) for word in command]
        self.socket.sendall(b"*%d\r\n%s" % (len(command), b"".join(words)))

    def read(self) -> Reply:
        """Raises TimeoutError when nothing comes, ConnectionError when the server hung up."""
        while (reply := self.reader.gets()) is self:
            self._feed()
        return _plain(reply)

    def ask(self, command: Command) -> Reply:
        self.send(command)
        return self.read()

    def next(self) -> list[Reply]:
        """The oldest that has come and was not read, if there is any."""
        reply = self.reader.gets()
        if reply is self:
            self._take()
            reply = self.reader.gets()
        return [] if reply is self else [_plain(reply)]

    def waiting(self) -> list[Reply]:
        """All that has come and was not read."""
        found = []
        while said := self.next():
            found += said
        return found

    def _take(self) -> None:
        """What lies ready, without waiting."""
        self.socket.settimeout(0)
        try:
            self._feed()
        except BlockingIOError:
            pass
        finally:
            self.socket.settimeout(ANSWER)

    def _feed(self) -> None:
        came = self.socket.recv(65536)
        if not came:
            raise ConnectionResetError("The server hung up.")
        self.reader.feed(came)

    def close(self) -> None:
        self.socket.close()


def _plain(reply: object) -> Reply:
    if isinstance(reply, list):
        return tuple(_plain(one) for one in reply)
    if isinstance(reply, hiredis.ReplyError):
        return Err(str(reply))
    if isinstance(reply, bytes | int) or reply is None:
        return reply
    raise TypeError(f"{type(reply).__name__} in a reply")
