"""A stampede from the form to the verdict, on an instructor's screen and a second one."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import requests
from playwright.sync_api import Browser, Page, Request, expect

from tests.e2e.accessibility import barriers
from tests.support.shop import Shop

VERDICT = re.compile(r"Sold [\d,]+\sof 20\. [\d,]+\scustomers? will be disappointed\.")
AREA = re.compile("M.*Z")
SLOW = 20_000  # ms: buyers and audit take seconds, on a busy machine more
ENDLESS = {
    "item": "pear",
    "mode": "naive",
    "stock": 1_000_000,
    "think_ms": 20,
    "buyers": 4,
    "seconds": 60,
}


def no_sideways_scroll(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.fixture
def run(shop: Shop) -> Iterator[str]:
    """The address of a running stampede, which ends with the test."""
    answer = requests.post(f"{shop.lab}/runs", json=ENDLESS, timeout=10)
    assert answer.status_code == 201, answer.text
    address = f"{shop.lab}/runs/{answer.json()['id']}"
    yield address
    requests.post(f"{address}/stop", json={}, timeout=10)
    assert requests.get(f"{address}/events", timeout=30).ok  # until it has ended


@pytest.mark.parametrize("context", ["phone"], indirect=True)  # at larger ones: test_first_screen
def test_from_the_form_to_the_disappointed_customers(page: Page, shop: Shop) -> None:
    page.goto(f"{shop.lab}/stampede")
    assert barriers(page) == []
    no_sideways_scroll(page)
    page.get_by_label("Stock", exact=True).fill("20")
    page.get_by_label("Buyers", exact=True).fill("8")
    page.get_by_label("Buyers", exact=True).press("Enter")  # by keyboard alone
    page.wait_for_url("**/runs/*")
    second = page.context.new_page()
    second.goto(page.url)
    expect(page.locator("#chart svg .over")).to_have_attribute("d", AREA, timeout=SLOW)
    assert barriers(page) == []
    for screen in (page, second):
        expect(screen.locator(".sentence")).to_have_text(VERDICT, timeout=SLOW)
        expect(screen.locator("#verdict")).to_have_attribute("data-verdict", "oversold")
        expect(screen.get_by_role("button", name="Stop")).to_be_hidden()
        no_sideways_scroll(screen)
    assert barriers(page) == []
    sold = page.locator("[data-figure=sold]").inner_text()
    assert page.locator(".sentence").inner_text().startswith(f"Sold {sold}\xa0of 20.")
    page.reload()
    expect(page.locator(".sentence")).to_have_text(VERDICT)
    expect(page.locator("#chart svg .over")).to_have_attribute("d", AREA, timeout=SLOW)
    page.get_by_role("link", name="Start another like it").click()
    expect(page.get_by_label("Stock", exact=True)).to_have_value("20")


def test_a_second_instructor_is_led_to_the_run_that_is_on(
    browser: Browser, shop: Shop, run: str
) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{shop.lab}/stampede")
        page.get_by_label("Item", exact=True).select_option("pear")
        page.get_by_role("button", name="Start the stampede").click()
        page.get_by_role("link", name="Watch the one that is on").click()
        expect(page).to_have_url(run)


def test_a_stream_that_breaks_is_taken_up_where_it_was(
    browser: Browser, shop: Shop, run: str
) -> None:
    with browser.new_context(color_scheme="dark") as context:
        page = context.new_page()
        asked: list[Request] = []
        page.on("request", lambda each: asked.append(each) if "/events" in each.url else None)
        page.goto(run)
        left = page.locator("[data-figure=left]")
        expect(left).not_to_have_text(left.inner_text(), timeout=SLOW)  # the stream works
        assert barriers(page) == []
        shop.child("lab").children()[0].terminate()  # its worker; the run goes with it
        said = page.locator(".sentence")
        expect(said).to_have_text(re.compile("The lab was stopped"), timeout=SLOW)
        # More come when the worker that ends gets a request first, or the run has ended.
        _, again, *_ = asked
        assert re.fullmatch(r"\d+-\d+", again.all_headers()["last-event-id"])


def test_a_refused_stream_of_an_ended_run_is_asked_for_again(browser: Browser, run: str) -> None:
    requests.post(f"{run}/stop", json={}, timeout=10)
    assert requests.get(f"{run}/events", timeout=30).ok  # until it has ended
    with browser.new_context() as context:
        page = context.new_page()
        refused = {"status": 503, "body": "The store is away."}
        page.route("**/events", lambda route: route.fulfill(**refused), times=1)
        page.goto(run)
        expect(page.locator("#lost")).to_be_visible()
        expect(page.locator("#lost")).to_be_hidden(timeout=SLOW)


def test_without_javascript(browser: Browser, run: str) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(run)
        left = page.locator("[data-figure=left]")
        expect(left).to_have_text(re.compile("999,"), timeout=SLOW)  # it has reloaded itself
        page.get_by_role("button", name="Stop the stampede").click()
        expect(page.get_by_text("Stopped by hand.")).to_be_visible(timeout=SLOW)
