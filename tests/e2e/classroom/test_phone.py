"""A phone in the class: countdown, early press, outcome; and the shelf's countdown."""

from __future__ import annotations

import re
from datetime import datetime

import pytest
import requests
from playwright.sync_api import Browser, expect

from tests.e2e.classroom.class_pages import (
    OPENS,
    SLOW,
    Open,
    join,
    looks_right,
    start,
)
from tests.e2e.scenes import locked
from tests.support.shop import Shop


def test_an_early_press_is_told_so_by_the_shop(shop: Shop, screen: Open) -> None:
    page = join(screen, shop, "Ada")
    expect(page.locator("#said")).to_have_text("Wait here: the sale will be announced.")
    expect(page.get_by_role("button")).to_be_hidden()
    start(shop, mode="watch", stock=1, think_ms=0, delay_ms=12_000)
    button = page.get_by_role("button")
    expect(button).to_have_text(OPENS, timeout=SLOW)
    expect(button).to_have_attribute("aria-disabled", "true")
    button.press("Enter")
    expect(page.locator("#said")).to_have_text(re.compile(r"Not open yet: [\d.]+ s to go\."))
    looks_right(page)
    expect(page.locator("#said")).to_have_text("It is open: buy now!", timeout=SLOW)
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text("You got one. It is yours.")
    expect(page.locator("#said")).to_be_focused()


# Notes the moment at which the page enables its button, and the longest time (ms) for which the
# page got no turn of the processor.
NOTE = """() => {
  let turn = Date.now(), stood = 0;
  setInterval(() => {
    stood = Math.max(stood, Date.now() - turn - 10);
    turn = Date.now();
    document.body.dataset.stood = stood;
  }, 10);
  const button = document.querySelector("#class button");
  new MutationObserver(() => {
    if (!button.ariaDisabled) document.body.dataset.opened ??= Date.now();
  }).observe(button, { attributes: true });
}"""


@pytest.mark.alone
def test_all_buttons_open_at_the_same_moment(shop: Shop, screen: Open) -> None:
    """Ten browsers on one machine; two hundred phones are in the processes' tests."""
    pages = [join(screen, shop, f"Phone {number}") for number in range(10)]
    start(shop, mode="watch", stock=1, think_ms=0, delay_ms=20_000)
    round = requests.get(f"{shop.lab}/rounds/apple", timeout=10).json()
    for page in pages:
        expect(page.get_by_role("button")).to_have_text(OPENS, timeout=SLOW)
        page.evaluate(NOTE)
    opened = []
    for page in pages:
        expect(page.locator("body[data-opened]")).to_be_visible(timeout=SLOW)
        opened.append(int(page.locator("body").get_attribute("data-opened") or 0))
    stood = max(int(page.locator("body").get_attribute("data-stood") or 0) for page in pages)
    late = [at - 1000 * datetime.fromisoformat(round["opens_at"]).timestamp() for at in opened]
    print(f"\nten browsers opened {min(late):.0f} to {max(late):.0f} ms after the shop")
    assert min(late) >= 0
    assert max(late) - min(late) < 100 + 2 * stood


def test_sold_out_busy_and_over(shop: Shop, screen: Open) -> None:
    page = join(screen, shop, "Ada")
    number = start(shop, mode="lock", stock=1, think_ms=0, wait_ms=1_000, delay_ms=0)
    expect(page.locator("#said")).to_have_text("It is open: buy now!", timeout=SLOW)
    with locked(shop, "apple", number):
        page.get_by_role("button").press("Enter")
        expect(page.get_by_role("button")).to_have_attribute("aria-busy", "true")
        expect(page.locator("#said")).to_have_text(re.compile("Busy: too many are buying"))
    page.get_by_role("button").press("Enter")
    expect(page.locator("#said")).to_have_text("You got one. It is yours.")
    late = join(screen, shop, "Cy")
    expect(late.locator("#said")).to_have_text("Sold out: others were faster.")
    requests.post(f"{shop.lab}/classroom/close/{number}", json={}, timeout=10)
    expect(late.locator("#said")).to_have_text("The sale is over.")
    expect(page.locator("#said")).to_have_text("You got one. It is yours.")


def test_a_worker_killed_in_the_countdown_does_not_cost_the_page(shop: Shop, screen: Open) -> None:
    page = join(screen, shop, "Ada")
    number = start(shop, mode="watch", stock=1, think_ms=0, delay_ms=12_000)
    expect(page.get_by_role("button")).to_have_text(OPENS, timeout=SLOW)
    for worker in shop.child("shop").children():
        worker.kill()
    expect(page.locator("#said")).to_have_text("It is open: buy now!", timeout=SLOW)
    answered = page.get_by_text(re.compile("You got one|No answer came"))
    for _ in range(10):  # the new workers may not be there yet; pressing again is safe
        page.get_by_role("button").press("Enter")
        expect(answered).to_be_visible(timeout=SLOW)
        if "You got one" in answered.inner_text():
            break
    assert shop.audit(number)["sold"] == 1


def test_the_shelf_counts_down_too(shop: Shop, screen: Open) -> None:
    shop.round("watch", 3, item="fig", delay_ms=8_000)
    page = screen(shop.url)
    fig = page.locator("[data-slug=fig]")
    button = fig.get_by_role("button")
    expect(button).to_contain_text(OPENS)
    button.press("Enter")
    expect(fig.get_by_role("status")).to_have_text(re.compile(r"Not open yet: [\d.]+ s to go\."))
    looks_right(page)
    expect(fig.get_by_role("status")).to_have_text("It is open: buy now.", timeout=SLOW)
    button.press("Enter")
    page.wait_for_url("**/orders/*")


def test_without_javascript(shop: Shop, browser: Browser) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{shop.url}/class")
        page.get_by_label("Nickname").fill("Ada")
        page.get_by_role("button", name="Join").click()
        start(shop, mode="watch", stock=1, think_ms=0, delay_ms=1_000)
        page.get_by_role("button", name="Buy").click(timeout=SLOW)  # the page has reloaded itself
        if page.get_by_text("Not open yet").is_visible():
            page.get_by_role("button", name="Try again").click()
        page.wait_for_url("**/orders/*")
