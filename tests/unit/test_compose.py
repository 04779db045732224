"""docker-compose.yml and the Dockerfile, compared with the settings table and the command line.

No Docker engine is needed: these mistakes can be found by reading the files.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from sqlalchemy import make_url

from app.cli import main
from app.config import SETTINGS, Settings
from app.ops.process_status import HeartbeatFile
from tests.support.servers import StoreServer, redis_server

TOP = Path(__file__).parents[2]
TEXT = (TOP / "docker-compose.yml").read_text()
# A variable that is not set for `docker compose` has the default from the file.
COMPOSE: dict[str, Any] = yaml.safe_load(re.sub(r"\$\{\w+:-(.*?)\}", r"\1", TEXT))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {name: each for name, each in SERVICES.items() if each["image"].startswith("lastapple")}
ONE_SHOT = {"prepare"}


def test_all_the_parts_are_there() -> None:
    servers = {"store", "database", "redlock-1", "redlock-2", "redlock-3", "zookeeper"}
    assert set(SERVICES) - set(OURS) == servers
    assert set(OURS) == {"prepare", "shop", "lab", "fulfil", "locust-master", "locust-worker"}


@pytest.mark.parametrize("name", SERVICES)
def test_images_are_pinned(name: str) -> None:
    assert re.fullmatch(r"[\w/.-]+:\d+(\.\d+)+", SERVICES[name]["image"])


@pytest.mark.parametrize("name", OURS)
def test_environment_names_are_settings(name: str) -> None:
    known = {row.name.upper() for row in SETTINGS}
    environment = OURS[name]["environment"]
    assert set(environment) <= known
    Settings.read(environment)


@pytest.mark.parametrize("name", SERVICES)
def test_ports_are_published_on_loopback_only(name: str) -> None:
    for port in SERVICES[name].get("ports", []):
        assert port.startswith("127.0.0.1:")


@pytest.mark.parametrize("name", ["shop", "lab"])
def test_ports_are_those_of_the_settings(name: str) -> None:
    settings = Settings.read(OURS[name]["environment"])
    port = getattr(settings, f"{name}_port")
    assert OURS[name]["ports"] == [f"127.0.0.1:{port}:{port}"]
    assert getattr(settings, f"{name}_host") == "0.0.0.0", "reachable from the other containers"
    probe = {"shop": "readyz", "lab": "healthz"}[name]
    assert f":{port}/{probe}" in " ".join(OURS[name]["healthcheck"]["test"])


@pytest.mark.parametrize("name", sorted(set(SERVICES) - ONE_SHOT))
def test_health_is_checked(name: str) -> None:
    check = SERVICES[name]["healthcheck"]
    if name == "locust-worker":  # it has no port
        assert check == {"disable": True}
    else:
        assert {"test", "interval", "timeout", "retries"} == set(check)


def test_fulfil_is_checked_by_a_command_of_ours_and_given_the_time_for_it() -> None:
    check = OURS["fulfil"]["healthcheck"]
    assert check["test"] == ["CMD", "lastapple", "check", "fulfil"]
    longest = HeartbeatFile(Settings.read(OURS["fulfil"]["environment"])).longest
    assert int(check["timeout"].removesuffix("s")) > longest + 5


@pytest.mark.parametrize("name", ["store", "redlock-1", "redlock-2", "redlock-3"])
def test_a_store_is_checked_by_a_write(name: str) -> None:
    _, client, *words = SERVICES[name]["healthcheck"]["test"]
    assert (client, "set" in words, "px" in words) == ("valkey-cli", True, True)


def test_the_write_fails_where_the_store_takes_none(valkey: StoreServer) -> None:
    """The check's own words, sent by Debian's client."""
    redis_server()  # where that is installed, so is its client
    _, _, *words = SERVICES["store"]["healthcheck"]["test"]
    check = ["redis-cli", "-p", str(valkey.port), *words]
    assert subprocess.run(check, capture_output=True, timeout=10).returncode == 0
    with valkey.client() as client:
        client.config_set("maxmemory", "1")
        try:
            assert client.ping()
            assert subprocess.run(check, capture_output=True, timeout=10).returncode != 0
        finally:
            client.config_set("maxmemory", "0")


@pytest.mark.parametrize("name", SERVICES)
def test_what_is_waited_for_exists_and_can_be_waited_for(name: str) -> None:
    for other, how in SERVICES[name].get("depends_on", {}).items():
        finished = how["condition"] == "service_completed_successfully"
        assert finished == (other in ONE_SHOT)


@pytest.mark.parametrize("name", ["prepare", "shop", "lab", "fulfil"])
def test_commands_exist(name: str) -> None:
    command: click.Command | None = main
    for word in OURS[name]["command"]:
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), word)
    assert command


def test_the_addresses_name_the_servers() -> None:
    settings = Settings.read(OURS["shop"]["environment"])
    url, database = make_url(settings.database), SERVICES["database"]["environment"]
    assert url.host == "database"
    assert url.username == database["POSTGRES_USER"]
    assert url.password == database["POSTGRES_PASSWORD"]
    assert url.database == database["POSTGRES_DB"]
    assert settings.store == "redis://store:6379/0"


def test_what_the_locks_of_several_servers_need_comes_with_a_profile() -> None:
    """The command in the file's head names them all; without it the shop does not use any."""
    [line] = [line for line in TEXT.splitlines() if "--profile" in line]
    settings = Settings.read(dict(re.findall(r"([A-Z_]+)=(\S+)", line)))
    profiles = re.findall(r"--profile (\w+)", line)
    for url in settings.masters:
        host, port = url.removeprefix("redis://").split(":")
        assert (SERVICES[host]["profiles"], port) == (["redlock"], "6379")
    host, port = settings.zookeeper_hosts.split(":")
    assert (SERVICES[host]["profiles"], port) == (["zookeeper"], "2181")
    assert {name for each in SERVICES.values() for name in each.get("profiles", [])} == {*profiles}
    for name in ("shop", "lab"):
        unset = Settings.read(OURS[name]["environment"])
        assert (unset.redlock_urls, unset.zookeeper_hosts) == ("", "")


@pytest.mark.parametrize("name", ["store", "redlock-1", "redlock-2", "redlock-3"])
def test_the_stores_keep_what_they_acknowledge(name: str) -> None:
    command = SERVICES[name]["command"]
    assert command[command.index("--appendonly") + 1] == "yes"
    assert command[command.index("--appendfsync") + 1] == Settings().appendfsync == "always"
    assert SERVICES[name]["volumes"] == [f"{name}:/data"]


def test_volumes_are_declared() -> None:
    used = {
        volume.split(":")[0] for each in SERVICES.values() for volume in each.get("volumes", [])
    }
    assert used == set(COMPOSE["volumes"])


def test_the_image_runs_as_nobody_special_and_copies_what_exists() -> None:
    dockerfile = (TOP / "Dockerfile").read_text()
    assert re.search(r"^USER lastapple$", dockerfile, re.MULTILINE)
    assert "--require-hashes" in dockerfile
    for line in re.findall(r"^COPY (.+) \S+$", dockerfile, re.MULTILINE):
        assert all((TOP / source).exists() for source in line.split())
