"""In place of redis-py's Lock: the same arguments, methods, context manager and exceptions."""

from __future__ import annotations

import inspect
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis
import redis.lock
from fairlock import Held, Lock
from fairlock_waiters import NAME, ByHand
from redis.exceptions import LockError, LockNotOwnedError
from servers.waiting import until

RUNS_ON = ["valkey", "cluster"]


@pytest.fixture(params=[False, True], ids=["bytes", "decoded"])
def decoded(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.mark.parametrize("method", ["__init__", "acquire", "release", "extend", "reacquire"])
def test_takes_the_arguments_of_redis_py(method: str) -> None:
    theirs = inspect.signature(getattr(redis.lock.Lock, method)).parameters
    ours = inspect.signature(getattr(Lock, method)).parameters
    assert list(ours)[: len(theirs)] == list(theirs)
    assert [one.default for one in theirs.values()] == [ours[name].default for name in theirs]


def test_by_the_clients_own_method(client: redis.Redis) -> None:
    lock = client.lock("report", timeout=10, blocking_timeout=1, lock_class=Lock)
    with lock:
        assert lock.owned()
        assert lock.locked()
        assert client.get("report") in (lock.local.token, lock.local.token.decode())
        assert 9_000 < client.pttl("report") <= 10_000
    assert not lock.locked()


def test_without_a_timeout_it_stays(client: redis.Redis) -> None:
    lock = Lock(client, "report")
    assert lock.acquire()
    assert client.ttl("report") == -1
    lock.release()


def test_one_at_a_time_and_not_longer_than_asked(client: redis.Redis) -> None:
    first, second = Lock(client, "report", timeout=60), Lock(client, "report", timeout=60)
    assert first.acquire()
    assert not second.acquire(blocking=False)
    start = time.monotonic()
    assert not second.acquire(blocking_timeout=0.2)
    assert 0.15 < time.monotonic() - start < 10, "not the lease"
    with pytest.raises(LockError, match="within the time"), Lock(client, "report", blocking=False):
        pass
    first.release()
    assert second.acquire(blocking=False)


def test_errors_are_those_of_redis_py(client: redis.Redis) -> None:
    lock = Lock(client, "report", timeout=10)
    for call in (lock.release, lock.reacquire, lambda: lock.extend(1)):
        with pytest.raises(LockError) as error:
            call()
        assert error.value.lock_name == "report"
        assert not isinstance(error.value, LockNotOwnedError)
    lock.acquire()
    client.set("report", "another holder")
    for call in (lock.reacquire, lambda: lock.extend(1), lock.release):
        with pytest.raises(LockNotOwnedError):
            call()
    assert lock.local.token is None
    assert client.get("report") in (b"another holder", "another holder")


def test_a_lock_without_timeout_cannot_be_extended(client: redis.Redis) -> None:
    lock = Lock(client, "report")
    lock.acquire()
    for call in (lock.reacquire, lambda: lock.extend(1)):
        with pytest.raises(LockError, match="no timeout"):
            call()
    lock.release()


def test_extend_adds_or_replaces(client: redis.Redis) -> None:
    lock = Lock(client, "report", timeout=10)
    lock.acquire()
    assert lock.extend(10)
    assert 19_000 < client.pttl("report") <= 20_000
    assert lock.extend(5, replace_ttl=True)
    assert 4_000 < client.pttl("report") <= 5_000
    assert lock.reacquire()
    assert 9_000 < client.pttl("report") <= 10_000
    lock.release()


def test_a_token_of_ones_own(client: redis.Redis) -> None:
    lock = Lock(client, "report")
    assert lock.acquire(None, None, None, "mine")
    assert client.get("report") in (b"mine", "mine")
    assert lock.local.token == b"mine"
    assert not Lock(client, "report").acquire(None, False, None, "mine"), "another Lock"
    lock.release()


def test_a_token_is_its_threads(client: redis.Redis) -> None:
    lock = Lock(client, "report", timeout=10)
    lock.acquire()
    with ThreadPoolExecutor(1) as pool:
        assert not pool.submit(lock.owned).result()
        with pytest.raises(LockError):
            pool.submit(lock.release).result()
        shared = Lock(client, "other", timeout=10, thread_local=False)
        shared.acquire()
        assert pool.submit(shared.owned).result()
        pool.submit(shared.release).result()
    lock.release()


@pytest.mark.parametrize("loud", [True, False])
def test_a_loss_at_the_exit_is_raised_unless_silenced(client: redis.Redis, loud: bool) -> None:
    lock = Lock(client, "report", timeout=0.05, raise_on_release_error=loud)
    lock.acquire()
    until(lambda: not client.exists("report"))
    assert lock.lost
    if loud:
        with pytest.raises(LockNotOwnedError):
            lock.__exit__(None, None, None)
    else:
        lock.__exit__(None, None, None)


@pytest.mark.again
def test_renewal_keeps_it_and_ends_with_the_release(client: redis.Redis) -> None:
    """It renews each second of a three-second lease: if one is late, two more can follow."""
    lock = Lock(client, "report", timeout=3, renew=True)
    with lock:
        until(lambda: client.pttl("report") < 2_200)
        until(lambda: client.pttl("report") > 2_500, said="no renewal came")
        assert lock.owned()
        assert not lock.lost
    assert not client.exists("report")


def test_a_renewal_may_come_late_by_two_thirds_of_the_lease(client: redis.Redis) -> None:
    clock = ByHand()
    lock = Lock(client, "report", timeout=30, renew=True, clock=clock)
    lock.acquire()
    assert clock.seconds == 10
    client.pexpire("report", 500)  # 29.5 s have passed
    assert clock.renew()
    assert client.pttl("report") > 29_000
    assert not lock.lost
    client.delete("report")  # longer than that
    assert not clock.renew()
    assert lock.lost
    with pytest.raises(LockNotOwnedError):
        lock.release()


def test_a_renewal_that_comes_after_the_release_is_no_loss(
    client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, losses = ByHand(), list[str]()
    lock = Lock(client, NAME, timeout=10, renew=True, clock=clock)
    lock.on_loss(lambda: losses.append("lost"))
    assert lock.acquire()
    renew = lock.contender.renew

    def renewed(held: Held) -> bool:
        lock.release()
        return renew(held)

    monkeypatch.setattr(lock.contender, "renew", renewed)
    assert not clock.renew(), "no more renewals"
    assert not losses


def test_renewal_cannot_outlive_the_lock_object(client: redis.Redis) -> None:
    lock = Lock(client, "report", timeout=0.3, renew=True)
    lock.acquire()
    del lock
    until(lambda: not client.exists("report"), 2.0, "renewed without a holder")


def test_renewal_cannot_outlive_its_thread(client: redis.Redis) -> None:
    lock = Lock(client, "report", timeout=0.3, renew=True, thread_local=False)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lock.acquire).result()
    until(lambda: not client.exists("report"), 2.0, "renewed though its thread has ended")


def test_no_lease_can_be_said_in_two_ways(client: redis.Redis) -> None:
    for timeout in (0, None):
        with Lock(client, "report", timeout=timeout):
            assert client.ttl("report") == -1


def test_renewal_needs_something_to_renew(client: redis.Redis) -> None:
    with pytest.raises(LockError, match="timeout"):
        Lock(client, "report", renew=True)


def test_a_loss_is_reported_before_the_release(client: redis.Redis) -> None:
    lock = Lock(client, "report", timeout=0.3, renew=True)
    told: list[str] = []
    lock.on_loss(lambda: told.append("lost"))
    lock.acquire()
    client.set("report", "another holder")
    until(lambda: told)
    assert lock.lost
    assert client.get("report") in (b"another holder", "another holder")
    with pytest.raises(LockNotOwnedError):
        lock.release()
    assert told == ["lost"]


def test_the_fence_rises(client: redis.Redis) -> None:
    lock = Lock(client, "report", timeout=10)
    fences = []
    for _ in range(3):
        with lock:
            fences.append(lock.fence or 0)
    assert fences == sorted(set(fences))
    assert lock.fence is None
