"""Hold, then pay, in a real browser: the countdown, its endings, units that come back."""

from __future__ import annotations

import re

import requests
from playwright.sync_api import Page, expect

from tests.support.shop import Shop

WANTED = {"item": "apple", "mode": "watch", "stock": 2}


def held(shop: Shop, page: Page, hold_ms: int) -> None:
    """Buy both units, and wait for the payment page."""
    answer = requests.post(f"{shop.lab}/rounds", json=WANTED | {"hold_ms": hold_ms}, timeout=10)
    answer.raise_for_status()
    page.goto(shop.url)
    apple = page.locator("[data-slug=apple]")
    apple.get_by_label("Quantity of Apple").select_option("2")
    apple.get_by_role("button", name="Buy").click()
    page.wait_for_url("**/orders/*")
    expect(page.get_by_role("heading", name="Held for you")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_pay(page: Page, shop: Shop) -> None:
    held(shop, page, 60_000)
    expect(page.locator("#pay-in")).to_have_text(re.compile("^(5[0-9]|60)$"))
    page.get_by_role("button", name="Pay €1.20").click()
    expect(page.get_by_text("Thank you. They are yours.")).to_be_visible()
    expect(page.get_by_text("It is in our books.")).to_be_visible()


def test_it_expires_and_comes_back_to_the_shelf(page: Page, shop: Shop) -> None:
    """Without a reload by hand: neither of this page nor of the shelf in a second tab."""
    held(shop, page, 4_000)
    shelf = page.context.new_page()
    shelf.goto(shop.url)
    expect(shelf.locator("[data-slug=apple] .stock")).to_have_text("Sold out")
    expect(page.get_by_role("heading", name="Expired")).to_be_visible()
    expect(shelf.locator("[data-slug=apple] .stock")).to_have_text("Only 2 left")
    expect(shelf.locator("[data-slug=apple]").get_by_role("button", name="Buy")).to_be_visible()
    page.goto(f"{shop.url}/orders")
    expect(page.locator(".orders").get_by_text("Expired").first).to_be_visible()


def test_decline_cancel_and_the_labs_view(page: Page, shop: Shop) -> None:
    held(shop, page, 60_000)
    lab = page.context.new_page()
    lab.goto(f"{shop.lab}/rounds/apple")
    expect(lab.locator("#holds").get_by_text("2 held")).to_be_visible()
    expect(lab.locator(".sentence")).to_contain_text("2 held, 0 left")
    page.get_by_role("button", name="Let the payment be declined").click()
    expect(page.get_by_role("heading", name="Payment declined")).to_be_visible()
    expect(lab.locator("#holds").get_by_text("Nothing is held.")).to_be_visible()
    expect(lab.locator(".sentence")).to_contain_text("2 left")
