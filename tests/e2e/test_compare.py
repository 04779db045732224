"""A comparison from the form to the bars, on an instructor's screen and a second one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from playwright.sync_api import Browser, Page, expect

from tests.e2e.accessibility import barriers
from tests.e2e.scenes import refused_once
from tests.support.servers import until
from tests.support.shop import Shop

SLOW = 60_000  # ms: two runs, on a machine with other load
QUICK = {"item": "plum", "stock": 10, "think_ms": 20, "buyers": 4, "seconds": 5, "repeats": 1}
ENDLESS = {**QUICK, "stock": 1_000_000, "seconds": 60}


def fits(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with browser.new_context(color_scheme="dark") as context:
        page = context.new_page()
        page.set_default_timeout(10_000)
        yield page


@pytest.fixture
def on(shop: Shop) -> Iterator[str]:
    """The address of a running comparison, which ends with the test."""
    wanted = {**ENDLESS, "modes": ["watch"], "reference": "naive"}
    answer = requests.post(f"{shop.lab}/comparisons", json=wanted, timeout=10)
    assert answer.status_code == 201, answer.text
    address = f"{shop.lab}/comparisons/{answer.json()['id']}"
    yield address
    until(lambda: requests.post(f"{address}/stop", json={}, timeout=10).ok)
    until(lambda: requests.get(address, timeout=10).json().get("running") is False, 60)


def test_from_the_form_to_the_bars_and_to_a_run(page: Page, shop: Shop, tmp_path: Path) -> None:
    page.goto(f"{shop.lab}/stampede")
    page.get_by_role("link", name="Compare", exact=True).click()
    assert barriers(page) == []
    for width in (360, 768, 1920, 1440):
        fits(page, width)
    for unwanted in ("watch", "lock:lease"):
        page.locator(f"input[value='{unwanted}']").press("Space")  # by keyboard alone
    page.get_by_label("Item", exact=True).select_option("plum")
    for label, value in (("Stock", 10), ("Buyers", 4), ("Repeats", 1), ("Seconds", 5)):
        page.get_by_label(label, exact=True).fill(str(value))
    page.get_by_label("Stock", exact=True).press("Enter")
    page.wait_for_url("**/comparisons/*")
    second = page.context.new_page()
    second.goto(page.url)
    assert barriers(page) == []
    for screen in (page, second):
        state = screen.locator(".state")
        expect(state).to_have_text("Finished: 2 runs.", timeout=SLOW)
        expect(screen.get_by_role("button", name="Stop")).to_be_hidden()
        naive = screen.locator("a.row", has_text="naive")
        expect(naive).to_contain_text(re.compile(r"broken on purpose\s*▲ Oversold by up to \d+"))
        expect(naive).to_contain_text("1.00 ×")
        expect(screen.locator("a.row", has_text="atomic")).to_contain_text("No oversell seen")
    assert barriers(page) == []
    for width in (360, 768, 1920, 1440):
        fits(page, width)
    table = page.locator("table", has_text="The bars as a table")
    expect(table.get_by_role("row", name="naive")).to_contain_text("1.00 ×")
    here = page.url
    with page.expect_download() as taken:
        page.get_by_role("link", name="As one page").click()
    taken.value.save_as(tmp_path / "taken.html")
    naive = page.locator("a.row", has_text="naive")
    naive.press("Enter")
    expect(page.locator(".sentence")).to_contain_text(re.compile(r"Sold \d+\sof 10"))
    page.get_by_role("link", name="Part of a comparison").click()
    expect(page).to_have_url(here)
    page.get_by_role("link", name="All runs and comparisons").click()
    expect(page.locator(".card").first).to_contain_text("Comparison on Plum")
    assert barriers(page) == []
    fits(page, 360)
    page.goto((tmp_path / "taken.html").as_uri())
    expect(page.locator("div.row", has_text="naive")).to_contain_text("Oversold by up to")
    assert barriers(page) == []


def test_a_second_instructor_is_led_to_it_and_a_third_stops_it_without_scripts(
    browser: Browser, page: Page, shop: Shop, on: str
) -> None:
    refused_once(page)
    page.goto(f"{shop.lab}/compare")
    page.get_by_role("button", name="Start the comparison").click()
    page.get_by_role("link", name="Watch the one that is on").click()
    expect(page).to_have_url(on)
    expect(page.locator(".state")).to_have_text("Run 1 of 2: naive, repeat 1.")
    expect(page.locator("#current")).to_contain_text("broken on purpose")
    live = page.get_by_role("link", name="Watch the run that is on")
    live.wait_for(timeout=SLOW)
    second = page.context.new_page()
    refused_once(second)
    second.goto(f"{shop.lab}{live.get_attribute('href')}")
    sold = second.locator("#chart svg .sold")
    expect(sold).to_have_attribute("points", re.compile(" .* "), timeout=SLOW)
    second.close()
    page.evaluate("window.here = true")
    with browser.new_context(java_script_enabled=False) as context:
        third = context.new_page()
        third.goto(on)
        third.get_by_role("button", name="Stop the comparison").click()
        for screen in (page, third):  # without scripts it reloads itself
            state = screen.locator(".state")
            expect(state).to_have_text("Stopped by hand after 1 of 2 runs.", timeout=SLOW)
    assert page.evaluate("window.here"), "it was told, and did not load anew"


def test_all_bars_have_one_scale(page: Page, shop: Shop) -> None:
    """The line of the reference is in one place, whatever the figures next to it."""
    page.goto(f"{shop.lab}/history")
    page.get_by_role("link", name="Comparison on Plum").last.click()
    for width in (360, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        at = page.locator(".bars .one").evaluate_all(
            "lines => lines.map((line) => Math.round(line.getBoundingClientRect().x))"
        )
        assert len(at) == 2
        assert len(set(at)) == 1
