"""The release of WATCH, GET, MULTI, DEL, EXEC: changes between its GET and its EXEC."""

from __future__ import annotations

import pytest
import redis

from app.store.servers import Servers
from tests.support.locks import HoldUp, Lock, SetClock, handle, pass_time
from tests.support.servers import StoreServer


def test_a_lock_that_changes_hands_there_is_left_alone(
    servers: Servers, lock: Lock, clock: SetClock, hold_up: HoldUp
) -> None:
    def lose_it_to_the_next() -> None:
        pass_time(servers, clock, 11)
        assert next_one.acquire(wait_s=0)

    next_one = lock("setnx_expire")
    late = lock("setnx_expire", at=hold_up(servers.settings, "DEL", lose_it_to_the_next))
    late.acquire()
    assert not late.release()
    assert next_one.release(), "it must still stand"


@pytest.mark.parametrize("name", ["setnx", "setnx_expire"])
def test_a_server_that_goes_away_there_is_told_as_what_it_is(
    name: str, own_store: StoreServer, at_own: Servers, hold_up: HoldUp
) -> None:
    """redis-py raises WatchError, as if another client had written."""
    holder = handle(name, hold_up(at_own.settings, "DEL", own_store.kill))
    assert holder.acquire(wait_s=0)
    with pytest.raises(redis.ConnectionError):
        holder.release()
