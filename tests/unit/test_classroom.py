"""Nicknames, where phones find the shop, and what the lab asks for."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from app.checks import BadSetting
from app.config import Settings
from app.domain import Invalid
from app.lab.classroom.addresses import lab_addresses, likeliest, shop_addresses
from app.ops.shared_settings import lab_token
from app.service.classroom.members import nickname


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Ada", "Ada"),
        ("  Ada \t Lovelace ", "Ada Lovelace"),
        ("林小雨", "林小雨"),
        ("Zoe\u0308", "Zoë"),
        ("🍎", "🍎"),
        ("❤️", "❤️"),  # a sign, and what makes it red
        ("<b>Bo</b> & 'Co'", "<b>Bo</b> & 'Co'"),  # a name; the page that shows it escapes it
        ("x" * 20, "x" * 20),
    ],
)
def test_a_nickname_is_shown_as_it_was_meant(said: str, name: str) -> None:
    assert nickname(said) == name


@pytest.mark.parametrize(
    "said",
    [
        "",
        "   ",
        "\u200b",  # nothing visible
        "x" * 21,
        "a\x00b",
        "Ada\u202e",  # would reverse the names after it
        "\u2066Ada",
        "\u3164",  # letters by Unicode, but invisible
        "\u115f\u1160",
        "\uffa0",
        "\u2800",  # signs
        "\U0001d159",
        "Ada\u3164\u3164",
        "\u0301\ufe0f",  # accents without a letter
        "\u034f",
        "\ud800",
        "x" * 1_000_000,
    ],
)
def test_what_is_no_nickname_is_refused(said: str) -> None:
    with pytest.raises(Invalid) as refused:
        nickname(said)
    assert list(refused.value.errors) == ["name"]


def test_the_way_out_comes_first_and_nobody_elses_addresses_do_not_count() -> None:
    hosts = ["127.0.0.1", "172.17.0.1", "192.168.1.7", "169.254.3.4", "172.17.0.1"]
    assert likeliest(hosts, "192.168.1.7") == ["192.168.1.7", "172.17.0.1"]
    assert likeliest(hosts, "") == ["172.17.0.1", "192.168.1.7"]


@pytest.mark.parametrize(
    ("environ", "found"),
    [
        ({}, []),
        ({"shop_host": "localhost"}, []),
        ({"shop_host": "192.168.1.7"}, ["http://192.168.1.7:8000"]),
        ({"shop_url": "https://shop.example/"}, ["https://shop.example"]),
        ({"shop_host": "shop", "shop_url": "http://127.0.0.1:8000"}, []),
    ],
)
def test_an_address_that_was_chosen_counts(environ: dict[str, Any], found: list[str]) -> None:
    assert shop_addresses(Settings(**environ)) == found


def test_who_listens_on_all_addresses_is_found_at_each_that_this_machine_has() -> None:
    everywhere = Settings(shop_host="0.0.0.0", lab_host="0.0.0.0")
    with socket.create_server(("0.0.0.0", 0)) as server:
        for url in shop_addresses(everywhere):
            host = urlsplit(url).hostname
            socket.create_connection((host, server.getsockname()[1]), timeout=2).close()
    lab = [url.replace(":8001", ":8000") for url in lab_addresses(everywhere)]
    assert lab == shop_addresses(everywhere)


def test_links_lead_to_an_address_one_can_go_to() -> None:
    settings = Settings(shop_host="0.0.0.0", lab_host="0.0.0.0")
    assert settings.shop_address == settings.shop_directly == "http://127.0.0.1:8000"
    assert settings.lab_address == "http://127.0.0.1:8001"


def test_the_lab_asks_for_nothing_on_loopback_and_for_a_token_elsewhere(tmp_path: Path) -> None:
    assert lab_token(Settings(var_dir=str(tmp_path))) == ""
    beyond = Settings(var_dir=str(tmp_path), lab_host="0.0.0.0")
    made = lab_token(beyond)
    assert len(made) >= 16
    assert lab_token(beyond) == made, "the same after a restart"
    assert (tmp_path / "lab-token").stat().st_mode & 0o077 == 0
    assert lab_token(Settings.read({"LAB_HOST": "0.0.0.0", "LAB_TOKEN": "off"})) == ""
    chosen = Settings.read({"LAB_TOKEN": "a chosen one"})
    assert lab_token(chosen) == "a chosen one", "on loopback too"


def test_a_token_that_can_be_guessed_is_no_token() -> None:
    with pytest.raises(BadSetting, match="LAB_TOKEN"):
        Settings.read({"LAB_TOKEN": "1234567"})
    assert Settings.read({"LAB_TOKEN": "off"}).lab_token == "off"
