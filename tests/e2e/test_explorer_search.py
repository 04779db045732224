"""Searches that no GET starts: the page's script starts them at once, or else its button."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.e2e.accessibility import barriers
from tests.support.shop import Shop

LONG = 30_000  # ms
UNUSUAL = "/explorer/watch/scheduler?moves=AAAfBBB"  # with a failover
SIZES = ((1920, 1080), (1280, 720), (390, 844))


def test_with_scripts_it_begins_by_itself(browser: Browser, shop: Shop) -> None:
    page = browser.new_page()
    page.goto(shop.lab + UNUSUAL)
    expect(page.locator("#reward .compared")).to_contain_text("one of the shortest", timeout=LONG)
    page.goto(f"{shop.lab}/explorer/naive?buyers=3")
    expect(page.locator("#player")).to_be_visible(timeout=LONG)
    page.get_by_text("What is searched").click()
    page.locator("#crash").select_option("0")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page).to_have_url(re.compile(r"explorer/naive\?buyers=3&crash=0"))
    expect(page.locator("#player")).to_be_visible(timeout=LONG)
    page.close()


@pytest.mark.parametrize(
    "address", ["/explorer/naive/scheduler?pause=2", "/explorer/lock:unowned?pause=2"]
)
def test_without_scripts_a_button_does(browser: Browser, shop: Shop, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(shop.lab + address)
    button = page.get_by_role("button", name="Search every order")
    expect(button).to_be_visible()
    if "scheduler" not in address:
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            box = button.bounding_box()
            assert box
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            assert box["y"] + box["height"] <= height
    button.press("Enter")
    expect(page.locator("#looked-at")).to_be_visible(timeout=LONG)
    expect(button).to_have_count(0)
    context.close()


def unless_posted(route: Route) -> None:
    """Drop the requests of the page's script."""
    if route.request.method == "POST":
        route.abort()
    else:
        route.continue_()


def test_the_page_that_waits_keeps_nobody_out(browser: Browser, shop: Shop) -> None:
    page = browser.new_page()
    page.route("**/*", unless_posted)
    page.goto(f"{shop.lab}/explorer/lock:lease?lost=2")
    expect(page.get_by_role("button", name="Search every order")).to_be_visible()
    assert barriers(page) == []
    page.close()
