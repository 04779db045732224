"""Hosts of one store share one secret and one DURABILITY; one that differs does not start."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from app.bootstrap import Services
from app.config import Settings
from app.domain import HostsDiffer
from app.ops import shared_settings
from app.store import keys
from tests.support.command_line import environ_of, invoke

RUNS_ON = ["valkey", "cluster"]
SECRET, OTHER = "a secret of the shop's", "another secret"


@pytest.fixture
def first(settings: Settings, services: Services) -> Settings:
    """The host that has started first."""
    first = replace(settings, secret_key=SECRET, zookeeper_hosts="a:2181")
    shared_settings.require_same(services.store, first)
    return first


def test_a_host_with_the_same_settings_starts(first: Settings, services: Services) -> None:
    shared_settings.require_same(services.store, first)
    shared_settings.require_same(services.store, replace(first, shop_port=9000, lab_port=9001))


def test_a_host_with_another_secret_is_refused(first: Settings, services: Services) -> None:
    with pytest.raises(HostsDiffer) as refused:
        shared_settings.require_same(services.store, replace(first, secret_key=OTHER))
    said = str(refused.value)
    assert "SECRET_KEY" in said
    assert "lastapple hosts --replace" in said
    assert SECRET not in said
    assert OTHER not in said
    shared_settings.require_same(services.store, first)  # nothing has changed for the others


@pytest.mark.parametrize(
    ("name", "value"), [("durability", "fast"), ("zookeeper_hosts", "b:2181,c:2181")]
)
def test_a_host_with_another_value_is_told_both(
    first: Settings, services: Services, name: str, value: str
) -> None:
    changed: dict[str, Any] = {name: value}
    with pytest.raises(HostsDiffer) as refused:
        shared_settings.require_same(services.store, replace(first, **changed))
    said = str(refused.value)
    assert f"{name.upper()} is {value!r} here and {getattr(first, name)!r} on" in said


def test_a_host_that_does_not_sell_with_zookeeper_starts(
    first: Settings, services: Services
) -> None:
    shared_settings.require_same(services.store, replace(first, zookeeper_hosts=""))


def test_a_host_that_is_refused_decides_nothing(settings: Settings, services: Services) -> None:
    first = replace(settings, secret_key=SECRET, zookeeper_hosts="")
    shared_settings.require_same(services.store, first)
    with pytest.raises(HostsDiffer):
        shared_settings.require_same(
            services.store, replace(first, secret_key=OTHER, zookeeper_hosts="b:2181")
        )
    shared_settings.require_same(services.store, replace(first, zookeeper_hosts="a:2181"))


def test_of_hosts_that_start_at_once_one_decides(settings: Settings, services: Services) -> None:
    def starts(number: int) -> bool:
        with suppress(HostsDiffer):
            shared_settings.require_same(
                services.store, replace(settings, secret_key=f"secret {number}")
            )
            return True
        return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(starts, range(8))) == 1


def test_a_secret_that_replaced_the_old_one_counts(first: Settings, services: Services) -> None:
    new = replace(first, secret_key=OTHER, secret_key_old=SECRET)
    with pytest.raises(HostsDiffer):  # hosts with the old secret do not know its cookies
        shared_settings.require_same(services.store, new)
    shared_settings.replace(services.store, new)
    shared_settings.require_same(services.store, new)
    with pytest.raises(HostsDiffer):
        shared_settings.require_same(services.store, first)


def test_the_store_has_a_salted_hash_only(first: Settings, services: Services) -> None:
    def record() -> Any:
        return services.store.hget(keys.HOSTS, "SECRET_KEY")

    before = record()
    assert SECRET.encode() not in before
    shared_settings.replace(services.store, first)
    assert record() != before


def test_the_command_compares_and_replaces(first: Settings, services: Services) -> None:
    other = replace(first, secret_key=OTHER)
    here, there = environ_of(first), environ_of(other)
    same, differs = invoke("hosts", **here), invoke("hosts", **there)
    assert (same.exit_code, differs.exit_code) == (0, 1), differs.output
    assert "SECRET_KEY" in differs.output
    assert invoke("hosts", "--replace", **there).exit_code == 0
    assert invoke("hosts", **there).exit_code == 0
    assert invoke("hosts", **here).exit_code == 1


def test_the_command_decides_nothing_by_looking(settings: Settings, services: Services) -> None:
    assert invoke("hosts", **environ_of(settings)).exit_code == 0
    assert not services.store.exists(keys.HOSTS)
