"""A real Chromium, and a running shop for it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.e2e import scenes
from tests.support.browser import NO_CHROMIUM, chromium
from tests.support.shop import Shop


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = chromium(playwright)
        if browser is None:
            assert not os.environ.get("CI"), f"CI needs it: {NO_CHROMIUM}"
            pytest.skip(NO_CHROMIUM)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with Shop(tmp_path_factory.mktemp("shop")) as shop:
        yield shop


@pytest.fixture(params=["phone", "desktop"])
def context(
    request: pytest.FixtureRequest, browser: Browser, tmp_path: Path
) -> Iterator[BrowserContext]:
    """A customer's browser; fails the test on any error in the console."""
    width, height = {"phone": (360, 740), "desktop": (1440, 900)}[request.param]
    context = browser.new_context(viewport={"width": width, "height": height})
    errors: list[str] = []
    context.on(
        "console",
        lambda said: errors.append(said.text) if said.type == "error" else None,
    )
    context.on("weberror", lambda error: errors.append(str(error.error)))
    yield context
    context.close()
    # The browser itself reports every 4xx and 5xx answer; these are expected.
    assert not [text for text in errors if "Failed to load resource" not in text]


@pytest.fixture
def page(context: BrowserContext) -> Page:
    page = context.new_page()
    page.set_default_timeout(10_000)
    return page


@pytest.fixture(scope="session")
def oversold(shop: Shop) -> str:
    """The path of a run that has sold hundreds of 30 units."""
    return scenes.ended(shop, scenes.stampede(shop, stock=30, seconds=30))


@pytest.fixture(scope="session")
def compared(shop: Shop) -> str:
    """The path of a comparison of the form's preset modes, but once and with less stock."""
    ways = ["naive", "watch", "lock:lease", "atomic"]
    return scenes.ended(shop, scenes.comparison(shop, modes=ways, repeats=1, stock=40, seconds=5))
