"""fenced: its token rises, whatever happens to the key that remembers it."""

from __future__ import annotations

from app.bootstrap import Services
from app.locks.fenced import Fenced
from app.store.servers import Servers
from tests.support.data_loss import removed
from tests.support.servers import StoreServer, until

KEY = "{apple}:1:lock"


def acquired(servers: Servers, lease: float = 10.0) -> Fenced:
    lock = Fenced(servers.store, KEY, lease)
    assert lock.fence is None
    assert lock.acquire(wait_s=5)
    return lock


def token(servers: Servers, lease: float = 10.0) -> int:
    lock = acquired(servers, lease)
    lock.release()
    assert lock.fence is not None
    return lock.fence


def test_rises_with_every_holder(services: Services) -> None:
    tokens = [token(services.servers) for _ in range(50)]
    assert tokens == sorted(set(tokens))


def test_who_does_not_get_it_raises_nothing(services: Services) -> None:
    holder = acquired(services.servers)
    other = Fenced(services.store, KEY)
    assert not other.acquire(blocking=False)
    assert other.fence is None
    assert services.store.get(f"{KEY}:fence") == str(holder.fence).encode()


def test_rises_after_the_lock_expired(services: Services) -> None:
    late = acquired(services.servers, lease=0.05)
    until(lambda: not late.locked())
    newer = acquired(services.servers)
    assert late.fence is not None
    assert newer.fence is not None
    assert newer.fence > late.fence
    assert (late.owned(), newer.owned()) == (False, True)
    assert (late.extend(1), newer.extend(1)) == (False, True)


def test_rises_when_its_key_ran_out(services: Services) -> None:
    before = token(services.servers)
    services.store.delete(f"{KEY}:fence")
    assert token(services.servers) > before


def test_rises_when_the_clock_was_set_back(services: Services) -> None:
    """The newest token comes from a clock a minute ahead of the server's."""
    ahead = token(services.servers) + 60_000_000
    services.store.set(f"{KEY}:fence", ahead)
    assert [token(services.servers), token(services.servers)] == [ahead + 1, ahead + 2]


def test_rises_when_the_server_comes_back_without_its_data(
    own_store: StoreServer, at_own: Servers
) -> None:
    before = token(at_own)
    own_store.kill()
    at_own.store.connection_pool.disconnect()
    removed(own_store.folder)
    own_store.start()
    assert not at_own.store.exists(f"{KEY}:fence")
    assert token(at_own) > before
