"""The instructor's way: start a round from the form, sell by hand, read the verdict."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import requests
from playwright.sync_api import Page, expect

from tests.support.shop import Shop


def start(page: Page, shop: Shop, mode: str, stock: int, think: int) -> None:
    page.goto(shop.lab)
    page.get_by_label("Item", exact=True).select_option("apple")
    page.get_by_label("Stock", exact=True).fill(str(stock))
    page.get_by_label("Mode", exact=True).select_option(mode)
    page.get_by_label("Think", exact=True).fill(str(think))
    page.get_by_role("button", name="Start the round").click()
    page.wait_for_url("**/rounds/apple/*")


def everybody_buys(shop: Shop, people: int) -> None:
    with ThreadPoolExecutor(people) as pool:
        deeds = [pool.submit(shop.buy, requests.Session()) for _ in range(people)]
        for deed in deeds:
            deed.result(30)


def test_five_people_see_naive_oversell(page: Page, shop: Shop) -> None:
    start(page, shop, "naive", stock=3, think=1_000)
    expect(page.get_by_text("broken on purpose").first).to_be_visible()
    everybody_buys(shop, 5)
    sentence = page.locator(".sentence")
    expect(sentence).to_have_text("Sold 5 of 3. 2 customers will be disappointed.")
    expect(page.locator("#audit")).to_have_attribute("data-verdict", "oversold")
    expect(page.locator("td[data-figure=oversold]")).to_have_text("2")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_and_watch_does_not(page: Page, shop: Shop) -> None:
    start(page, shop, "watch", stock=3, think=200)
    everybody_buys(shop, 5)
    expect(page.locator(".sentence")).to_have_text(re.compile("every unit accounted for"))
    page.get_by_role("button", name="End this round").click()
    expect(page.get_by_text("ended", exact=True).first).to_be_visible()


def test_the_form_says_when_the_work_outlives_the_lease(page: Page, shop: Shop) -> None:
    page.goto(shop.lab)
    page.get_by_label("Mode", exact=True).select_option("lock")
    warning = page.get_by_text("will outlive the lease")
    expect(warning).to_be_hidden()
    page.get_by_label("Think", exact=True).fill("12000")
    expect(warning).to_have_text(
        re.compile(r"The work \(12 s of thinking\)\s+will outlive the lease\s+\(10 s\)")
    )
    recipe = page.get_by_label("Recipe", exact=True)
    recipe.select_option("watchdog")  # renews its lease
    expect(warning).to_be_hidden()
    recipe.select_option("lease")
    expect(warning).to_have_text(re.compile("expect oversell"))
    page.get_by_label("Mode", exact=True).select_option("watched")
    expect(warning).to_have_text(re.compile("expect BUSY while stock remains"))
    page.get_by_label("Mode", exact=True).select_option("watch")
    expect(warning).to_be_hidden()
    page.get_by_label("Mode", exact=True).select_option("lock")
    page.get_by_role("button", name="Start the round").click()
    page.wait_for_url("**/rounds/apple/*")
    expect(page.get_by_text("will outlive the lease")).to_be_visible()
