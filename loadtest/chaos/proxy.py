"""A TCP proxy on one path through the shop, which passes on, loses, delays and cuts.

It knows no protocol. A connection with more requests than answers has a request under way: that is
all that it must see to tell whether a fault hits. A request that contains given bytes can be
stopped here, so that a fault meets its sender between two commands.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

CHUNK = 64 * 1024  # bytes read at once
STEP = 0.001  # s between two looks whether a stopped request may continue
NO_FAREWELL = struct.pack("ii", 1, 0)
LOAD = 200  # bytes of an answer with content; one with a sale is larger
Endpoint = int | Path  # a port of loopback, or a Unix socket


class Conduct(StrEnum):
    """The proxy's treatment of passing data."""

    PASS = "pass"  # noqa: S105  no password
    DELAY = "delay"  # both directions, each piece by so much; but not for a closed connection
    SWALLOW = "swallow"  # requests arrive, no answer comes back
    SEVER = "sever"  # requests arrive; an answer cuts the connection instead
    REFUSE = "refuse"  # a request cuts the connection, and does not arrive
    HALF_OPEN = "half_open"  # the connection is open, and nothing arrives at either end


@dataclass(eq=False)
class Link:
    """One connection through the proxy."""

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    under_way: bool = False  # more requests than answers
    lost: bool = False  # some data was swallowed: it is out of step, and ends with the fault

    @property
    def port(self) -> int:
        """The port by which the server knows the connection; 0 over a Unix socket."""
        name = self.server.get_extra_info("sockname")
        return int(name[1]) if isinstance(name, tuple) else 0

    def cut(self) -> None:
        """Cut the connection at once: both ends see a reset."""
        _reset(self.client)
        _reset(self.server)


@dataclass
class Proxy:
    """One path, from our port to `to`. Call `behave` from any thread; `delay` is in s."""

    name: str
    to: Endpoint
    port: int = 0
    conduct: Conduct = Conduct.PASS
    delay: float = 0.0
    requests: int = 0  # requests so far
    loads: int = 0  # answers so far with content: to fulfil, sales
    touched: int = 0  # pieces so far that were lost, held back or cut
    links: set[Link] = field(default_factory=set)
    point: bytes = b""  # the next request with these bytes waits here, until `resume`
    stopped: Link | None = None  # its connection

    def stop_at(self, point: bytes) -> None:
        self.stopped, self.point = None, point

    def resume(self) -> None:
        self.point, self.stopped = b"", None

    def under_way(self) -> list[Link]:
        """Return the connections with a request under way. From any thread."""
        return [link for link in tuple(self.links) if link.under_way]

    def behave(self, conduct: Conduct, delay: float = 0.0) -> None:
        self.delay, self.conduct = delay, conduct

    async def serve(self, reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        try:
            if isinstance(self.to, Path):
                answers, server = await asyncio.open_unix_connection(self.to)
            else:
                answers, server = await asyncio.open_connection("127.0.0.1", self.to)
        except OSError:
            _reset(client)
            return
        link = Link(client, server)
        self.links.add(link)
        try:
            await asyncio.gather(
                _pump(reader, lambda chunk: self._up(link, chunk), server),
                _pump(answers, lambda chunk: self._down(link, chunk), client),
            )
        finally:
            self.links.discard(link)
            client.transport.abort()
            server.transport.abort()

    async def _up(self, link: Link, chunk: bytes) -> None:
        self.requests += 1
        link.under_way = True
        if self.conduct is Conduct.REFUSE:
            self.touched += 1
            link.cut()
        elif self.conduct is Conduct.HALF_OPEN:
            self.touched += 1
            link.lost = True
        else:
            await self._hold()
            if self.point and not self.stopped and self.point in chunk:
                self.stopped = link
                while self.stopped is link:
                    await asyncio.sleep(STEP)
                if link.client.is_closing():  # its sender was killed before it sent this
                    return
            link.server.write(chunk)

    async def _down(self, link: Link, chunk: bytes) -> None:
        if self.conduct is Conduct.SEVER:
            self.touched += 1
            link.cut()
        elif self.conduct in (Conduct.SWALLOW, Conduct.HALF_OPEN):
            self.touched += 1
            link.lost = True
        else:
            await self._hold()
            link.under_way = False
            self.loads += len(chunk) > LOAD
            link.client.write(chunk)

    async def _hold(self) -> None:
        if self.conduct is Conduct.DELAY:
            self.touched += 1
            await asyncio.sleep(self.delay)


def _reset(end: asyncio.StreamWriter) -> None:
    with suppress(OSError):  # it is closed, or no TCP
        end.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_FAREWELL)
    end.transport.abort()


async def _pump(
    reader: asyncio.StreamReader, deed: Callable[[bytes], Awaitable[None]], to: asyncio.StreamWriter
) -> None:
    with suppress(OSError):
        while chunk := await reader.read(CHUNK):
            await deed(chunk)
    to.close()  # data written before is still sent


class Proxies:
    """All proxies, in an event loop of a thread of their own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.servers: list[asyncio.Server] = []
        self.thread = threading.Thread(target=self.loop.run_forever, name="proxies", daemon=True)
        self.thread.start()

    def open(self, name: str, to: Endpoint) -> Proxy:
        """Open a proxy. Raises OSError."""
        proxy = Proxy(name, to)

        async def listen() -> None:
            server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
            self.servers.append(server)
            proxy.port = server.sockets[0].getsockname()[1]

        asyncio.run_coroutine_threadsafe(listen(), self.loop).result(10)
        return proxy

    def cut(self, links: list[Link]) -> None:
        """Cut these connections at once. From any thread."""

        async def each() -> None:
            for link in links:
                link.cut()

        asyncio.run_coroutine_threadsafe(each(), self.loop).result(10)

    def heal(self, proxy: Proxy) -> None:
        """Pass on again; a connection that has lost something is out of step and ends."""
        proxy.behave(Conduct.PASS)
        proxy.resume()
        self.cut([link for link in tuple(proxy.links) if link.lost])

    def close(self) -> None:
        """Close all; all connections are cut."""

        async def end() -> None:
            for server in self.servers:
                server.close()
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(end(), self.loop).result(10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
        self.loop.close()
