"""A thread's connections: how long it tries to open them, and how many it has."""

from __future__ import annotations

import time

import pytest
import redis

from app.locks.queue import Lock
from tests.servers import StoreServer

pytestmark = pytest.mark.again


def test_a_usual_clients_own_retries_do_not_multiply_ours(own_store: StoreServer) -> None:
    """18 s, when each of our tries was ten of the client's."""
    with redis.Redis(port=own_store.port) as client:
        own_store.kill()
        start = time.monotonic()
        with pytest.raises(redis.ConnectionError):
            Lock(client, "lock", timeout=10).acquire()
        assert time.monotonic() - start < 3
