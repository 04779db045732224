"""Clients that hold a server up: `python -m tests.support.slow_clients PORT COUNT PATH [KIND …]`.

The clients take the KINDS in turn, ask for the page PATH, and reconnect when the server closes
them. The program prints "there" when all have connected once, and ends when its input closes.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import cycle, islice

HALF = (
    b"POST /buy/apple HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b'Content-Length: 15\r\n\r\n{"quan'
)
AWAY = 2  # s until a client that was shut out comes again
ESTABLISHED, CLOSE_WAIT = 1, 8  # states of TCP

Send = Callable[[bytes], Awaitable[None]]
Kind = Callable[[Send, bytes], Awaitable[None]]


async def silent(_send: Send, _page: bytes) -> None:
    """Connect, and send nothing."""


async def trickle(send: Send, _page: bytes) -> None:
    """Send a byte every two to six seconds."""
    for number, byte in enumerate(HALF):
        await send(bytes([byte]))
        await asyncio.sleep(2 + number % 5)


async def half(send: Send, _page: bytes) -> None:
    """Send half a body."""
    await send(HALF)


async def never_reads(send: Send, page: bytes) -> None:
    """Ask for more than the system buffers for it."""
    await send(page * 50)


async def never_closes(send: Send, page: bytes) -> None:
    """Ask the server to close the connection, and leave the own end open."""
    await send(page.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))


KINDS = (silent, trickle, half, never_reads, never_closes)


async def come(port: int, kind: Kind, page: bytes, there: asyncio.Semaphore) -> None:
    """Stay until the server has closed the connection."""
    loop = asyncio.get_running_loop()
    with socket.socket() as connection:
        connection.setblocking(False)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        await loop.sock_connect(connection, ("127.0.0.1", port))
        there.release()
        deed = asyncio.ensure_future(kind(lambda data: loop.sock_sendall(connection, data), page))
        try:
            while connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] in (
                ESTABLISHED,
                CLOSE_WAIT,
            ):
                await asyncio.sleep(AWAY)
        finally:
            deed.cancel()
            with suppress(OSError, asyncio.CancelledError):
                await deed


async def again(port: int, kind: Kind, page: bytes, there: asyncio.Semaphore) -> None:
    while True:
        with suppress(OSError):
            await come(port, kind, page, there)
        await asyncio.sleep(AWAY)


async def main(port: int, count: int, path: str, *names: str) -> None:
    page = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    kinds = [kind for kind in KINDS if kind.__name__ in names or not names]
    there = asyncio.Semaphore(0)
    clients = []  # the loop itself would forget them
    for number, kind in enumerate(islice(cycle(kinds), count)):
        clients.append(asyncio.ensure_future(again(port, kind, page, there)))
        if number % 20 == 0:
            await asyncio.sleep(0.01)  # they come within a second or so
    for _ in clients:
        await there.acquire()
    print("there", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    os._exit(0)  # all at once


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]))
