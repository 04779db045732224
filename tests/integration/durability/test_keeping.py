"""How durably a store keeps its writes: each line says what is wrong with it, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from app.bootstrap import Services
from app.config import Settings
from app.ops import durability_checks
from app.ops.readiness import State
from tests.integration.durability.conftest import Pair
from tests.support.command_line import environ_of, invoke
from tests.support.servers import StoreServer

RUNS_ON = ["valkey", "cluster"]


@pytest.fixture
def asked(valkey: StoreServer) -> Iterator[Callable[..., dict[str, str]]]:
    """Configure the store, and return the lines that are not ok, by name."""
    with valkey.client() as client:
        before = client.config_get("maxmemory-policy", "appendonly", "appendfsync")

        def ask(durability: str = "safe", **config: str) -> dict[str, str]:
            for name, value in config.items():
                client.config_set(name.replace("_", "-"), value)
            services = Services(Settings(redis_url=valkey.url, durability=durability))
            found = durability_checks.look(services.servers)
            services.store.connection_pool.disconnect()
            return {each.name: each.sentence for each in found if each.state is not State.OK}

        yield ask
        for name, value in before.items():
            client.config_set(name, value)


def test_a_store_that_keeps_all(asked: Callable[..., dict[str, str]]) -> None:
    assert asked(appendfsync="always") == {}
    assert asked("fast", appendfsync="everysec") == {}


@pytest.mark.parametrize(
    ("durability", "config", "name", "said"),
    [
        ("safe", {"maxmemory_policy": "allkeys-lru"}, "eviction", "forgets stock and sales"),
        ("safe", {"maxmemory_policy": "volatile-ttl"}, "eviction", "which keys have bought"),
        ("safe", {"appendonly": "no"}, "log", "keeps no log"),
        ("safe", {"appendfsync": "everysec"}, "log", "DURABILITY is safe. Set appendfsync always"),
        ("fast", {"appendfsync": "no"}, "log", "half a minute of sales"),
        ("replicated", {"appendfsync": "always"}, "replicas", "needs a replica, and it has none"),
    ],
)
def test_each_thing_in_one_line(
    asked: Callable[..., dict[str, str]],
    durability: str,
    config: dict[str, str],
    name: str,
    said: str,
) -> None:
    (told,) = asked(durability, **({"appendfsync": "always"} | config)).items()
    assert told[0] == f"store {name}"
    assert said in told[1]
    assert told[1].endswith(".")
    assert "\n" not in told[1]


def test_replicas_are_seen_from_both_sides(pair: Pair, shop_over: Callable[..., Services]) -> None:
    def line(server: StoreServer, durability: str) -> str:
        *_, said = durability_checks.look(shop_over(server, durability).servers)
        return f"{said.state} {said.sentence}"

    assert line(pair.store, "replicated").startswith("failing min-replicas-to-write is 0")
    with pair.store.client() as client:
        client.config_set("min-replicas-to-write", 1)
    assert line(pair.store, "replicated").startswith("ok 1:")
    assert line(pair.store, "safe").startswith("unwell 1, and DURABILITY=safe waits for none")
    assert line(pair.replica, "safe").startswith("failing It is a replica")


def test_an_old_redis_is_told_so() -> None:
    assert durability_checks.version({"redis_version": "6.2.14"}).state is State.FAILING
    assert durability_checks.version({"redis_version": "7.0.15"}).state is State.OK
    assert durability_checks.version({"redis_version": "10.0.0"}).state is State.OK


def test_at_the_start_and_by_check(services: Services) -> None:
    """The tests' stores sync nothing: both commands report it for each node, and still succeed."""
    settings = services.settings
    for command in ("prepare", "check"):
        done = invoke(command, **environ_of(settings))
        assert (done.exit_code, "appendfsync is no: a crash" in done.stdout) == (0, True), command
    refused = invoke("prepare", **environ_of(settings) | {"DURABILITY": "replicated"})
    assert refused.exit_code == 1
    assert "DURABILITY=replicated needs a replica, and it has none" in refused.stderr
