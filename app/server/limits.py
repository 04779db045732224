"""What shop and lab grant a client, good or bad."""

from __future__ import annotations

import resource

REQUEST = 10  # s from its first byte to its last one, and from a connection to its first request
ANSWER = 10  # s for the client to take it
FILES = 256  # kept free of connections: for the store, the database, logs and code
MOST_FILES = 10_240  # what macOS grants at most


def raise_open_files() -> None:
    """As many open files as we may have: each connection is one, and 1,024 are usual."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def connections(wanted: int) -> int:
    """How many of the wanted ones may be open at once, by the files that we may have."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return wanted if soft == resource.RLIM_INFINITY else max(1, min(wanted, soft - FILES))
