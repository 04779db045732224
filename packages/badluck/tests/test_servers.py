"""Actors, setup and invariants with several servers."""

from __future__ import annotations

import pytest
import redis
from badluck import BadluckError, explore
from badluck.invariants import sum_stays

Redis = redis.Redis


LEASE = 10_000  # ms


def locks_most(servers: tuple[Redis, ...], name: str) -> bool:
    got = [bool(one.set("lock", name, nx=True, px=LEASE)) for one in servers]
    return sum(got) > len(servers) // 2


def locks_any(servers: tuple[Redis, ...], name: str) -> bool:
    return any(one.set("lock", name, nx=True) for one in servers)


def at_most_one(servers: tuple[Redis, ...], answers: dict[str, bool]) -> bool:
    assert len(servers) == 3
    return sum(answers.values()) <= 1


def test_several_servers() -> None:
    explore(actor=locks_most, count=2, servers=3, invariant=at_most_one).assert_holds()

    any_of_them = explore(actor=locks_any, servers=3, invariant=at_most_one)
    finding = any_of_them.report.findings[0]
    assert finding.trace[-1].lines[0].startswith("1: SET lock ")
    one_forgets = explore(
        actor=locks_most, count=2, servers=3, invariant=at_most_one, faults="failover=1"
    )
    assert one_forgets.report.findings[0].cost.faults == 1
    for servers in (0, 6):
        with pytest.raises(BadluckError, match="1 to 5 servers"):
            explore(actor=locks_any, servers=servers)


def gives(servers: tuple[Redis, ...]) -> None:
    servers[0].decr("n")
    servers[1].incr("n")


def test_an_invariant_sees_all_servers() -> None:
    result = explore(
        actors=[gives],
        servers=2,
        setup=lambda servers: [one.set("n", 1) for one in servers],
        invariant=sum_stays(2, "n"),
        at_end=lambda servers: [one.get("n") for one in servers] == [b"0", b"2"],
    )
    (finding,) = result.report.findings
    assert finding.trace[-1].shown == {"n": "0", "1: n": "1"}
    assert finding.trace[-1].lines == ["DECRBY n 1"]
    explore(
        actors=[gives],
        servers=2,
        setup=lambda servers: [one.set("n", 1) for one in servers],
        at_end=sum_stays(2, "n"),
    ).assert_holds()
