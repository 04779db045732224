"""Limits for every client, well-behaved or not."""

from __future__ import annotations

import resource

REQUEST = 10  # s from a request's first byte to its last, and from connecting to the first one
ANSWER = 10  # s for the client to take an answer
FILES = 256  # kept free of connections: for the store, the database, logs and code
MOST_FILES = 10_240  # what macOS grants at most


def raise_open_files() -> None:
    """Raise the limit of open files as far as allowed: each connection is one; 1,024 is usual."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def connections(wanted: int) -> int:
    """Return how many of the wanted connections may be open at once, by the limit of files."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return wanted if soft == resource.RLIM_INFINITY else max(1, min(wanted, soft - FILES))
