"""Input that `lastapple compare` refuses: exit status 2 and a helpful sentence."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from loadtest.compare import compare
from loadtest.inputs import check_modes, check_threads, lab_url_for, parse_modes, parse_url
from loadtest.lab import About

ABOUT = About(
    version="0.1.0",
    workers=2,
    threads=16,
    server="Valkey 9.1.2",
    appendfsync="always",
    durability="safe",
    database="sqlite",
    modes={"naive": True, "watch": False, "lock": False},
    recipes={"lease": False, "unowned": True},
)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(compare, arguments, prog_name="lastapple compare")


def test_help_explains_and_calls_itself_by_its_public_name() -> None:
    result = run("--help")
    assert result.exit_code == 0
    assert result.output.startswith("Usage: lastapple compare [OPTIONS]")
    for default in ("naive,watch,lock,atomic", "500", "32", "5", "3", "compare.html"):
        assert f"[default: {default}" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--modes", ""), "comma"),
        (("--modes", "naive,,atomic"), "comma"),
        (("--modes", "naive,watch,naive"), "naive is there twice"),
        (("--stock", "0"), "--stock"),
        (("--buyers", "x"), "--buyers"),
        (("--repeats", "0"), "--repeats"),
        (("--stock", "1000001"), "--stock"),
        (("--buyers", "0"), "--buyers"),
        (("--buyers", "513"), "--buyers"),
        (("--seconds", "0"), "--seconds"),
        (("--seconds", "1.5"), "--seconds"),
        (("--repeats", "51"), "--repeats"),
        (("--url", "127.0.0.1:8000"), "no address"),
        (("--lab-url", "http://127.0.0.1:8001"), "--lab-url needs --url"),
        (("--html", "nowhere/at/all.html"), "no folder nowhere/at"),
        (("--json", "nowhere/at/all.json"), "no folder nowhere/at"),
        (("naive",), "unexpected extra argument"),
    ],
)
def test_bad_input_is_refused_before_anything_starts(
    arguments: tuple[str, ...], word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.exit_code == 2
    assert word in result.output
    assert not list(tmp_path.iterdir())


def test_modes_are_split_at_commas() -> None:
    assert parse_modes(" naive, lock:lease ") == ["naive", "lock:lease"]


@pytest.mark.parametrize("text", ["http://shop:8000", "http://shop:8000/", "https://[::1]:8000"])
def test_an_address_is_taken_without_its_slash(text: str) -> None:
    assert parse_url(text) == text.rstrip("/")


@pytest.mark.parametrize(
    "text",
    ["", "shop:8000", "ftp://shop", "http://", "http://shop:x", "http://shop:99999", "http://a/b"],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is no address"):
        parse_url(text)


@pytest.mark.parametrize(
    ("shop", "lab"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8001"),
        ("http://shop.example", "http://shop.example:81"),
        ("https://shop.example", "https://shop.example:444"),
        ("http://[::1]:8000", "http://[::1]:8001"),
    ],
)
def test_the_lab_is_expected_at_the_next_port(shop: str, lab: str) -> None:
    assert lab_url_for(shop) == lab


def test_an_unknown_mode_is_told_the_known_ones() -> None:
    with pytest.raises(click.BadParameter, match="no mode hope; known: naive, watch, lock"):
        check_modes(["watch", "hope"], ABOUT)
    check_modes(["naive", "lock:lease"], ABOUT)


def test_an_exhibit_is_known_by_its_mode_or_by_its_recipe() -> None:
    assert [ABOUT.exhibit(mode) for mode in ("naive", "watch", "lock", "lock:unowned")] == [
        True,
        False,
        False,
        True,
    ]


def test_fewer_threads_than_buyers_is_refused_with_the_setting_that_helps() -> None:
    check_threads(32, ABOUT)
    with pytest.raises(click.BadParameter, match="2 workers × 16 threads = 32 for 33 buyers") as no:
        check_threads(33, ABOUT)
    assert "SHOP_THREADS=17" in str(no.value)
