"""Free loopback ports for servers."""

from __future__ import annotations

import socket
import sys

_held: list[socket.socket] = []


def free_port() -> int:
    """Return a port that the system gives to no other process while this one lives.

    It stays bound. On Linux a server may still listen on it, as both sockets set SO_REUSEADDR.
    On other systems the port is only one that was free a moment ago.
    """
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    port = int(holder.getsockname()[1])
    if sys.platform == "linux":
        _held.append(holder)
    else:
        holder.close()
    return port
