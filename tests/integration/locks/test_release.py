"""The release of WATCH, GET, MULTI, DEL, EXEC: what may happen between its look and its EXEC."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import redis

from app.domain import Clock
from app.locks import LOCKS
from app.locks.handle import Handle
from app.store.servers import Servers
from tests.locking import KEY, SetClock, held_up, pass_time
from tests.servers import StoreServer

Lock = Callable[..., Handle]


def test_a_lock_that_changes_hands_there_is_left_alone(
    servers: Servers, lock: Lock, clock: SetClock
) -> None:
    def lose_it_to_the_next() -> None:
        pass_time(servers.store, clock, 11)
        assert next_one.acquire(timeout=0)

    next_one = lock("setnx_expire")
    late = lock("setnx_expire", at=held_up(servers.settings, "DEL", lose_it_to_the_next))
    late.acquire()
    assert not late.release()
    assert next_one.release(), "it must still stand"


@pytest.mark.parametrize("name", ["setnx", "setnx_expire"])
def test_a_server_that_goes_away_there_is_told_as_what_it_is(
    name: str, mortal: StoreServer, at_mortal: Servers
) -> None:
    """redis-py says WatchError, as if somebody else had written."""
    holder = LOCKS[name](held_up(at_mortal.settings, "DEL", mortal.kill), Clock(), KEY, 10.0)
    assert holder.acquire(timeout=0)
    with pytest.raises(redis.ConnectionError):
        holder.release()
