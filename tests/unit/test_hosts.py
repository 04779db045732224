"""Host headers that a server accepts as its own."""

from __future__ import annotations

import socket

import pytest

from app.server.hosts import Names

OURS = ["localhost", "localhost:8000", "LOCALHOST.", "127.0.0.1:8000", "127.8.8.8", "[::1]:8000"]
NOBODYS = ["", ":8000", "evil.example", "127.0.0.1.evil.example", "[::1", "localhost:80:80", "a b"]
NUMBERS = ["192.168.1.7:8000", "10.0.0.1", "[fe80::1]:8000", "8.8.8.8"]


@pytest.mark.parametrize("bound", ["127.0.0.1", "localhost", "0.0.0.0", "192.168.1.9"])
def test_loopback_is_always_ours_and_a_strangers_name_never(bound: str) -> None:
    names = Names(bound, [])
    assert [host for host in OURS if not names.have(host)] == []
    assert [host for host in NOBODYS if names.have(host)] == []


def test_a_server_on_one_address_has_that_one() -> None:
    names = Names("192.168.1.7", [])
    assert [host for host in NUMBERS if names.have(host)] == ["192.168.1.7:8000"]
    assert Names("shop.lan", []).have("shop.lan:8000")


def test_a_server_on_all_addresses_has_every_number_and_the_machines_names() -> None:
    """Addresses may change while it runs; a Host header with one never names another site."""
    names = Names("0.0.0.0", [])
    assert [host for host in NUMBERS if not names.have(host)] == []
    machine = socket.gethostname()
    assert names.have(machine)
    assert names.have(f"{machine.partition('.')[0]}.local:8000")
    assert not Names("127.0.0.1", []).have(f"{machine}.local")


def test_others_by_the_setting() -> None:
    names = Names("127.0.0.1", ["Shop.example.com", ".example.org", ""])
    theirs = ["shop.example.com", "SHOP.EXAMPLE.COM:443", "example.org", "a.b.example.org"]
    assert [host for host in theirs if not names.have(host)] == []
    assert not names.have("example.com")
    assert not names.have("badexample.org")
    assert not names.have("")
    assert Names("127.0.0.1", ["*"]).have("evil.example")
