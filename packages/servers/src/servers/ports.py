"""Ports of loopback for servers of ours."""

from __future__ import annotations

import socket
import sys

_held: list[socket.socket] = []


def free_port() -> int:
    """A port that the system gives to no other process while this one lives.

    It stays bound: our server may listen on it all the same, as both say SO_REUSEADDR. That is
    Linux's way; elsewhere it is a port that was free a moment ago.
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
