"""The customer's way: shelf, buy, order, my orders; sold out and busy; without JavaScript too."""

from __future__ import annotations

import pytest
import requests
from playwright.sync_api import APIResponse, Browser, Page, Route, expect

from tests.e2e.scenes import locked
from tests.support.shop import Shop


def no_sideways_scroll(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_from_the_shelf_to_a_confirmed_order(page: Page, shop: Shop) -> None:
    shop.round("watch", 10)
    page.goto(shop.url)
    apple = page.locator("[data-slug=apple]")
    expect(apple.locator(".stock")).to_have_text("10 left")
    no_sideways_scroll(page)
    apple.get_by_label("Quantity of Apple").select_option("2")
    apple.get_by_role("button", name="Buy").click()
    page.wait_for_url("**/orders/*")
    expect(page.get_by_text("2 × Apple, €1.20")).to_be_visible()
    expect(page.get_by_text("It is in our books.")).to_be_visible()
    no_sideways_scroll(page)
    page.get_by_role("link", name="My orders").first.click()
    expect(page.get_by_text("2 × Apple")).to_be_visible()
    expect(page.get_by_text("Confirmed")).to_be_visible()


def test_the_shelf_follows_the_stock(page: Page, shop: Shop) -> None:
    shop.round("watch", 10)
    page.goto(shop.url)
    stock = page.locator("[data-slug=apple] .stock")
    expect(stock).to_have_text("10 left")
    page.request.post(f"{shop.url}/buy/apple", data={"quantity": 7})
    expect(stock).to_have_text("Only 3 left")
    page.request.post(f"{shop.url}/buy/apple", data={"quantity": 3})
    expect(stock).to_have_text("Sold out")
    expect(page.locator("[data-slug=apple] button")).to_have_count(0)


def test_somebody_else_was_faster(page: Page, shop: Shop) -> None:
    shop.round("watch", 3)
    page.route(f"{shop.url}/items", lambda route: route.abort())  # the page does not know it
    page.goto(shop.url)
    apple = page.locator("[data-slug=apple]")
    apple.get_by_label("Quantity of Apple").select_option("3")
    page.request.post(f"{shop.url}/buy/apple", data={"quantity": 2})
    apple.get_by_role("button", name="Buy").click()
    expect(apple.get_by_role("status")).to_contain_text("Only 1 left")


@pytest.mark.parametrize("script", [True, False])
def test_ones_own_last_fig_went_to_nobody_else(browser: Browser, shop: Shop, script: bool) -> None:
    """In a second tab, which does not know it."""
    shop.round("watch", 1, "fig")
    context = browser.new_context(java_script_enabled=script)
    first, second = context.new_page(), context.new_page()
    for page in (first, second):
        page.route(f"{shop.url}/items", lambda route: route.abort())
        page.goto(shop.url)
    stranger = browser.new_page(java_script_enabled=script)
    stranger.route(f"{shop.url}/items", lambda route: route.abort())
    stranger.goto(shop.url)
    for page in (first, second, stranger):
        page.locator("[data-slug=fig]").get_by_role("button", name="Buy").click()
        if page is first:
            page.wait_for_url("**/orders/*")
    said = [
        page.locator("[data-slug=fig]").get_by_role("status") if script else page.locator("main")
        for page in (second, stranger)
    ]
    expect(said[0]).to_contain_text("you have bought the last one yourself")
    expect(said[1]).not_to_contain_text("yourself")
    expect(said[1]).to_contain_text("gone to another buyer" if script else "Nothing is left")
    if script:
        said[0].get_by_role("link", name="My orders").click()
        expect(second.get_by_text("1 × Fig")).to_be_visible()
    stranger.close()
    context.close()


def test_the_classs_apples_are_not_on_the_shelf(page: Page, shop: Shop) -> None:
    """The shelf follows: it leads to the class, and sells again when that sale has ended."""
    shop.round("watch", 3)
    page.goto(shop.url)
    apple = page.locator("[data-slug=apple]")
    expect(apple.get_by_role("button", name="Buy")).to_be_visible()
    wanted = {"mode": "watch", "stock": 3, "delay_ms": 60_000}
    answer = requests.post(f"{shop.lab}/classroom/sale", json=wanted, timeout=10)
    expect(apple.get_by_role("button")).to_have_count(0)
    no_sideways_scroll(page)
    expect(apple.get_by_role("link", name="Join the class")).to_be_visible()
    requests.post(f"{shop.lab}/classroom/close/{answer.json()['round']}", json={}, timeout=10)
    shop.round("watch", 3)
    expect(apple.get_by_role("button", name="Buy")).to_be_visible()


def test_busy_is_said_and_the_second_press_buys_once(page: Page, shop: Shop) -> None:
    """The first press waits for a lock until it gives up; the second is the same purchase."""
    number = shop.round("lock:lease", 10, wait_ms=200)["round"]
    page.goto(shop.url)
    apple = page.locator("[data-slug=apple]")
    with locked(shop, "apple", number):
        apple.get_by_role("button", name="Buy").click()
        expect(apple.get_by_role("status")).to_contain_text("Busy")
    apple.get_by_role("button", name="Buy").click()
    page.wait_for_url("**/orders/*")
    assert shop.audit(number)["sold"] == 1


def test_by_keyboard_alone(page: Page, shop: Shop) -> None:
    shop.round("watch", 10)
    page.goto(shop.url)
    button = page.locator("[data-slug=apple]").get_by_role("button", name="Buy")
    for _ in range(12):
        page.keyboard.press("Tab")
        if button.evaluate("button => button === document.activeElement"):
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/orders/*")


def test_without_javascript(browser: Browser, shop: Shop) -> None:
    number = shop.round("watch", 3)["round"]
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(shop.url)
    apple = page.locator("[data-slug=apple]")
    apple.get_by_label("Quantity of Apple").select_option("2")
    apple.get_by_role("button", name="Buy").click()
    expect(page).to_have_url(f"{shop.url}/orders/{page.url.rpartition('/')[2]}")
    expect(page.get_by_text("2 × Apple")).to_be_visible()
    page.get_by_role("link", name="Back to the shop").click()
    expect(apple.locator(".stock")).to_have_text("Only 1 left")
    page.request.post(f"{shop.url}/buy/apple", data={"quantity": 1})
    apple.get_by_role("button", name="Buy").click()
    expect(page.get_by_role("heading", name="Sold out")).to_be_visible()
    assert shop.audit(number)["sold"] == 3
    context.close()


def test_without_a_cookie_the_second_press_finds_the_order(browser: Browser, shop: Shop) -> None:
    """No script, no cookie, and the answer to the first press is lost on its way."""
    number = shop.round("watch", 3)["round"]
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(shop.url)
    button = page.locator("[data-slug=apple]").get_by_role("button", name="Buy")
    answers: list[APIResponse] = []

    def lose(route: Route) -> None:
        answers.append(route.fetch(max_redirects=0))
        route.fulfill(status=204)  # the page stays as it is

    page.route("**/buy/apple", lose, times=1)
    context.clear_cookies()
    with page.expect_response("**/buy/apple"):
        button.click()
    context.clear_cookies()
    button.click()
    page.wait_for_url("**/orders/*")
    assert page.url == shop.url + answers[0].headers["location"]
    assert shop.audit(number)["sold"] == 1
    context.close()
