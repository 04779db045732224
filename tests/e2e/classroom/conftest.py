"""A shop as `make classroom` starts it, several browsers, and a crowd without one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from playwright.sync_api import Browser, Page

from tests.e2e.classroom.class_pages import PHONE, Open
from tests.support.phones import Phone, crowd
from tests.support.servers import until
from tests.support.shop import Shop


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A shop as `make classroom` starts it."""
    with Shop(tmp_path_factory.mktemp("class"), SHOP_HOST="0.0.0.0") as shop:
        yield shop


@pytest.fixture
def screen(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Open an address in a browser of its own; fail the test on any error in its console."""
    errors: list[str] = []
    opened: list[Page] = []

    def open_it(url: str, size: tuple[int, int] = PHONE, scheme: str = "light") -> Page:
        width, height = size
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
            reduced_motion="reduce",  # a colour during a transition has any contrast
        )
        context.on(
            "console", lambda said: errors.append(said.text) if said.type == "error" else None
        )
        context.on("weberror", lambda error: errors.append(str(error.error)))
        opened.append(context.new_page())
        opened[-1].set_default_timeout(10_000)
        opened[-1].goto(url)
        return opened[-1]

    yield open_it
    for number, page in enumerate(opened):
        page.screenshot(path=tmp_path / f"{number}.png", full_page=True)
        page.context.close()
    assert not [text for text in errors if "Failed to load resource" not in text]


@pytest.fixture(autouse=True)
def no_sale_is_on(shop: Shop) -> None:
    """Wait until the previous test's sale has ended, and all workers know it."""
    requests.post(f"{shop.lab}/rounds/apple/end", json={}, timeout=10)
    with crowd(shop.url, 1) as [phone]:
        until(lambda: phone.call("GET", "/class/state")[1].startswith(b'{"round":0'))


@pytest.fixture
def others(shop: Shop) -> Iterator[list[Phone]]:
    """Twelve more phones."""
    with crowd(shop.url, 12) as phones:
        yield phones
