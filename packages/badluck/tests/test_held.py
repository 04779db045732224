"""A lock is recognised by the commands on it, whatever its value or its users' answers are."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import redis
from badluck import BadCode, Explorer, Faults, explore
from badluck.functions.function_target import FunctionTarget

Redis = redis.Redis
Actor = Callable[[Redis], object]
MINE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end"


def deletes_in_any_case(redis: Redis) -> None:
    try:
        if redis.set("door", 1, nx=True):
            redis.incr("n")
    finally:
        redis.delete("door")


def deletes_its_own(redis: Redis) -> None:
    while not redis.set("door", 1, nx=True):
        pass
    redis.incr("n")
    redis.delete("door")


def leases(redis: Redis, name: str) -> None:
    while not redis.set("door", name, nx=True, ex=5):
        pass
    redis.incr("n")
    redis.delete("door")


def leases_and_asks_whose(redis: Redis, name: str) -> None:
    while not redis.set("door", name, nx=True, ex=5):
        pass
    redis.incr("n")
    redis.eval(MINE, 1, "door", name)


def keeps_it(redis: Redis) -> None:
    if redis.set("door:lock", 1, nx=True):
        redis.incr("n")


def keeps_it_for_a_while(redis: Redis) -> None:
    if redis.set("door:lock", 1, nx=True, ex=5):
        redis.incr("n")


def marks_what_is_done(redis: Redis) -> None:
    """No lock: no actor deletes it, and none waits for it."""
    if redis.set("blocked:7", 1, nx=True):
        redis.incr("n")


def counts(redis: Redis) -> None:
    """The actor that gets 1 has the lock; the others add to it, and go."""
    if redis.incr("door:lock") == 1:
        redis.incr("n")
        redis.delete("door:lock")


def counts_and_takes_away_in_any_case(redis: Redis) -> None:
    if redis.incr("door:lock") == 1:
        redis.incr("n")
    redis.delete("door:lock")


def asks_by_getset(redis: Redis) -> None:
    if redis.getset("door:lock", 1) is None:
        redis.incr("n")
        redis.delete("door:lock")


def lets_it_expire(redis: Redis) -> None:
    while not redis.set("door:lock", 1, nx=True):
        pass
    redis.incr("n")
    redis.pexpire("door:lock", 0)
    redis.get("n")


def moves_it_away(redis: Redis) -> None:
    while not redis.set("door:lock", 1, nx=True):
        pass
    redis.incr("n")
    redis.rename("door:lock", "was")
    redis.get("n")


@pytest.mark.parametrize(
    ("actor", "found"),
    [
        (counts, []),
        (counts_and_takes_away_in_any_case, ["lock deleted by another"]),
        (asks_by_getset, []),
        (lets_it_expire, []),
        (moves_it_away, []),
    ],
)
def test_ways_to_take_it_and_to_give_it_back(actor: Actor, found: list[str]) -> None:
    for lock in (None, "door:lock"):
        report = explore(actor=actor, lock=lock).report
        assert [finding.name for finding in report.findings] == found


@pytest.mark.parametrize(
    ("actor", "faults", "found"),
    [
        (deletes_in_any_case, "none", ["lock deleted by another"]),
        (deletes_its_own, "none", []),
        (leases, "none", []),
        (leases, "pause=1", ["lock deleted by another"]),
        (leases_and_asks_whose, "pause=1", []),
        (keeps_it, "none", ["lock leaked"]),
        (keeps_it_for_a_while, "none", []),
        (marks_what_is_done, "crash=1", []),
    ],
)
def test_what_is_done_to_a_lock(actor: Actor, faults: str, found: list[str]) -> None:
    result = explore(actor=actor, faults=faults)
    assert [finding.name for finding in result.report.findings] == found, result


def test_two_holders_where_the_lock_alone_is_to_keep_the_others_out() -> None:
    def finds_it_free(redis: Redis) -> None:
        if not redis.exists("door"):
            redis.set("door", 1)
            redis.incr("n")
            redis.delete("door")

    assert explore(actor=deletes_its_own, lock="door").verdict == "holds"
    names = [one.name for one in explore(actor=finds_it_free, lock="door").report.findings]
    assert names == ["two holders"]
    for lock, more in (("door", ["two holders"]), (None, [])):
        found = explore(actor=leases_and_asks_whose, lock=lock, faults="pause=1").report.findings
        assert [one.name for one in found] == more


@pytest.mark.parametrize("server", [0, 1])
def test_a_lock_is_seen_on_whichever_server(server: int) -> None:
    def finds_it_free(servers: tuple[Redis, Redis]) -> None:
        if not servers[server].exists("door"):
            servers[server].set("door", 1)
            servers[server].incr("n")
            servers[server].delete("door")

    (finding,) = explore(actor=finds_it_free, servers=2, lock="door").report.findings
    assert finding.name == "two holders"


def test_a_lock_that_cannot_be_followed_is_refused() -> None:
    def on_both(servers: tuple[Redis, Redis]) -> None:
        for one in servers:
            one.set("door", 1, nx=True)

    with pytest.raises(BadCode, match="lock='Door' is a key that no text is ever written to"):
        explore(actor=deletes_its_own, lock="Door")
    with pytest.raises(BadCode, match="lock='door' is a key of several servers"):
        explore(actor=on_both, servers=2, lock="door")


def test_who_waits_for_a_lock_of_one_that_has_crashed_is_stuck() -> None:
    (finding,) = explore(actor=deletes_its_own, faults="crash=1").report.findings
    assert finding.name == "stuck forever"


def sets_its_expiry_afterwards(redis: Redis) -> str:
    if not redis.setnx("door", 1):
        return "busy"
    redis.expire("door", 5)
    redis.incr("n")
    redis.delete("door")
    return "done"


def sets_its_expiry_at_once(redis: Redis) -> str:
    if not redis.set("door", 1, nx=True, ex=5):
        return "busy"
    redis.incr("n")
    redis.delete("door")
    return "done"


def test_who_crashes_leaves_a_lock_that_never_expires_to_nobody() -> None:
    """A leaked lock is found even if no actor waits for it: all later ones get "busy"."""
    assert explore(actor=sets_its_expiry_afterwards).verdict == "holds"
    found = explore(actor=sets_its_expiry_afterwards, faults="crash=1")
    assert "LOCK LEAKED, with 1 fault" in str(found)
    assert explore(actor=sets_its_expiry_at_once, faults="crash=1").verdict == "holds"


def leases_by_the_same_word(redis: Redis) -> str:
    if not redis.set("door", "1", nx=True, ex=5):
        return "busy"
    redis.delete("door")
    return "done"


def leases_by_the_same_word_and_waits(redis: Redis) -> None:
    while not redis.set("door", "1", nx=True, ex=5):
        pass
    redis.incr("n")
    redis.eval(MINE, 1, "door", "1")


@pytest.mark.parametrize("actor", [leases_by_the_same_word, leases_by_the_same_word_and_waits])
def test_whose_it_is_is_known_also_where_all_write_the_same(actor: Actor) -> None:
    """A had it, B has it: in both the key is 1, and A is about to delete it."""
    assert explore(actor=actor, faults="crash=1").verdict == "holds"
    found = explore(actor=actor, faults="pause=1")
    assert "LOCK DELETED BY ANOTHER, with 1 fault" in str(found)
    does = [(step.actor, step.lines) for step in found.report.findings[0].trace]
    taken_by = [actor for actor, lines in does if "SET" in str(lines) and "NX" in str(lines)]
    assert does[-1][0] == taken_by[0] != taken_by[-1]


def claims_a_seat(redis: Redis, name: str) -> str:
    """A claim that lasts forever, or is given back at once."""
    if not redis.set("seat:1", name, nx=True):
        return "taken"
    if name == "A":
        redis.delete("seat:1")
        return "declined"
    return "yours"


def test_a_claim_that_is_no_lock_may_be_called_none() -> None:
    found = str(explore(actor=claims_a_seat))
    assert "Taken for a lock: seat:1." in found
    assert "and no lock, say so: lock=False" in found
    explore(actor=claims_a_seat, lock=False, faults="crash=1").assert_holds()


def test_it_is_left_to_nobody_also_where_not_all_is_looked_at() -> None:
    def counts(redis: Redis) -> None:
        for _ in range(50):
            redis.incr("n")

    target = FunctionTarget(actors=[counts, sets_its_expiry_afterwards])
    report = Explorer(target, 2).explore(Faults(crash=1), most=500)
    assert not report.exhaustive
    assert [finding.name for finding in report.findings] == ["lock leaked"]
