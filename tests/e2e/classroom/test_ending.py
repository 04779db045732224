"""The end of a sale on the phones: which apples exist, and what a new class forgets."""

from __future__ import annotations

import re

import requests
from playwright.sync_api import Page, expect

from tests.e2e.classroom.class_pages import SIZES, SLOW, Open, in_sight, join, looks_right, start
from tests.support.phones import Phone, buy_together
from tests.support.shop import Shop

MISSING = "Sold 14 of 1: yours is one of the 13 that do not exist."
REAL = "Sold 14 of 1, and yours exists: you were early enough."


def oversold(shop: Shop, others: list[Phone], first: Page, *pages: Page) -> None:
    """Sell one apple to twelve phones and to these pages' owners, of whom `first` is the first."""
    number = start(shop, mode="naive", stock=1, think_ms=5_000, wait_ms=15_000, delay_ms=3_000)
    for page in (first, *pages):
        expect(page.locator("#said")).to_have_text("It is open: buy now!", timeout=SLOW)
    for phone in others:
        phone.answer = {}
    first.get_by_role("button").press("Enter")
    # Each thinks for 5 s. A press that comes a second later may be early or late by less than that.
    first.wait_for_timeout(1_000)
    for page in pages:
        page.get_by_role("button").press("Enter")
    buy_together(others, number)
    for page in (first, *pages):
        expect(page.locator("#said")).to_have_text("You got one. It is yours.", timeout=SLOW)
    requests.post(f"{shop.lab}/classroom/close/{number}", json={}, timeout=10)


def test_each_phone_learns_whether_its_apple_exists(
    shop: Shop, screen: Open, others: list[Phone]
) -> None:
    projector = screen(f"{shop.lab}/classroom", SIZES[0])
    eve, finn = join(screen, shop, "Eve"), join(screen, shop, "Finn", "dark")
    oversold(shop, others, eve, finn)
    expect(projector.locator("#stage")).to_have_attribute("data-verdict", "oversold", timeout=SLOW)
    # Eve was the first: there was one apple.
    expect(eve.locator("#said")).to_have_text(REAL, timeout=SLOW)
    expect(finn.locator("#said")).to_have_text(MISSING, timeout=SLOW)
    for page in (eve, finn):
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            in_sight(page.locator("#said"), page.locator("#class .plate"))
        looks_right(page)
    second = finn.context.new_page()
    second.goto(f"{shop.url}/class")
    expect(second.locator("#said")).to_have_text(MISSING)
    second.close()
    early = others[0].call("GET", "/class", Accept="text/html")[1].decode()
    assert re.search(r'data-state="(real|missing)"', early), "and without scripts"


def test_a_second_tab_knows_what_the_first_one_bought(shop: Shop, screen: Open) -> None:
    """The last apple is this phone's own: no other phone was faster."""
    page = join(screen, shop, "Eve")
    start(shop, mode="watch", stock=1, think_ms=0, delay_ms=3_000)
    second = page.context.new_page()
    second.goto(f"{shop.url}/class")
    for each in (page, second):
        expect(each.locator("#said")).to_have_text("It is open: buy now!", timeout=SLOW)
    page.get_by_role("button").press("Enter")
    for each in (page, second):
        expect(each.locator("#said")).to_have_text("You got one. It is yours.")
        expect(each.get_by_role("button")).to_be_hidden()
    second.wait_for_timeout(4_000)  # a poll says that nothing is left
    expect(second.locator("#said")).to_have_text("You got one. It is yours.")
    second.close()


def test_a_new_class_begins_with_empty_screens(
    shop: Shop, screen: Open, others: list[Phone]
) -> None:
    projector = screen(f"{shop.lab}/classroom", SIZES[0])
    eve = join(screen, shop, "Eve")
    oversold(shop, others, eve)
    stage, names = projector.locator("#stage"), projector.locator("#names li")
    expect(stage).to_have_attribute("data-verdict", "oversold", timeout=SLOW)
    expect(names.first).to_be_visible()
    fold = projector.locator("summary", has_text="New class")
    for width, height in SIZES:
        projector.set_viewport_size({"width": width, "height": height})
        in_sight(stage, projector.locator("dl.tiles"), projector.get_by_text("same again"))
        fold.click()
        if width > height:  # on a phone the way in, and so the fold, is below the events
            in_sight(fold, projector.get_by_role("button", name="Begin a new class"))
        looks_right(projector)
        fold.click()
    fold.focus()
    projector.keyboard.press("Enter")
    projector.keyboard.press("Tab")
    projector.keyboard.press("Enter")
    expect(stage).to_have_attribute("data-phase", "idle")
    expect(names).to_have_count(0)
    expect(projector.get_by_role("button", name="Start the countdown").first).to_be_visible()
    expect(eve.get_by_label("Nickname")).to_have_value("Eve", timeout=SLOW)
    eve.get_by_role("button", name="Join").press("Enter")
    expect(eve.locator("#said")).to_have_text("Wait here: the sale will be announced.")
    expect(names).to_have_count(1, timeout=SLOW)
    expect(names).not_to_have_attribute("data-bought", "")
