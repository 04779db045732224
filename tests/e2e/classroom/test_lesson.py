"""The projector and phones: a lesson from the nickname to the second verdict."""

from __future__ import annotations

import re

from playwright.sync_api import Page, Request, expect

from tests.e2e.classroom.class_pages import (
    OPENS,
    PHONE,
    PROJECTOR,
    SLOW,
    Open,
    join,
    looks_right,
    start,
)
from tests.e2e.scenes import refused_once
from tests.support.phones import Phone, buy_together, together
from tests.support.shop import Shop

TOLD_IN_THE_END = re.compile(
    "Sold 14 of 5(, and yours exists: you were early enough|"
    ": yours is one of the 9 that do not exist)[.]"
)


def test_a_projector_whose_stream_was_refused_asks_again(shop: Shop, screen: Open) -> None:
    projector = screen(f"{shop.lab}/classroom", PROJECTOR)
    refused_once(projector)
    projector.reload()
    expect(projector.locator("#lost")).to_be_visible()
    join(screen, shop, "Ada")
    expect(projector.locator("#names").get_by_text("Ada", exact=True)).to_be_visible()
    expect(projector.locator("#lost")).to_be_hidden()


def test_a_countdown_looks_right(shop: Shop, screen: Open) -> None:
    start(shop, delay_ms=60_000)  # longer than all checks during it may take
    for size, scheme in ((PROJECTOR, "light"), (PHONE, "dark")):
        projector = screen(f"{shop.lab}/classroom", size, scheme)
        expect(projector.locator(".count")).to_have_text(re.compile(r"\d+ s"))
        looks_right(projector)


def test_a_lesson(shop: Shop, screen: Open, others: list[Phone]) -> None:
    """Naive oversells, one click, and `watch` does not; two screens and two phones are watched."""
    projector = screen(f"{shop.lab}/classroom", PROJECTOR)
    small = screen(f"{shop.lab}/classroom", PHONE, "dark")
    looks_right(projector)
    expect(projector.locator("svg.qr")).to_be_visible()
    ada, bo = join(screen, shop, "Ada L."), join(screen, shop, "<b>Bo</b>", "dark")
    looks_right(ada)
    for each in (projector, small):
        for name in ("Ada L.", "<b>Bo</b>"):
            expect(each.locator("#names").get_by_text(name, exact=True)).to_be_visible()
    projector.get_by_text("Another sale").click()
    projector.get_by_label("Stock").fill("5")
    projector.get_by_label("Countdown").fill("10000")
    projector.get_by_label("Countdown").press("Enter")
    expect(small.locator("#stage")).to_have_attribute("data-phase", "waiting")
    sell_to(others, projector, ada, bo)
    expect(bo.locator("#said")).to_have_text("You got one. It is yours.", timeout=SLOW)
    projector.get_by_role("button", name="Close the sale").press("Enter")
    said = re.compile(r"Sold 14\sof 5\. 9\scustomers will be disappointed\.")
    for each in (projector, small):
        expect(each.locator("#stage .sentence")).to_have_text(said, timeout=SLOW)
        together(others, Phone.ask)
        expect(each.locator("#stage")).to_have_attribute("data-verdict", "oversold")
        expect(each.locator("#names li[data-bought]")).to_have_count(14)
        looks_right(each)
    for each in (ada, bo):
        expect(each.locator("#said")).to_have_text(TOLD_IN_THE_END, timeout=SLOW)
        each.reload()
        expect(each.locator("#said")).to_have_text(TOLD_IN_THE_END)
        expect(each.get_by_role("button")).to_be_hidden()
    looks_right(bo)
    small.get_by_role("button", name="The same again with watch").press("Enter")
    sell_to(others, projector, ada, bo)
    expect(projector.locator("#stage .sentence")).to_have_text(
        "Sold 5 of 5, 0 left: every unit accounted for.", timeout=SLOW
    )
    together(others, Phone.ask)
    expect(projector.locator("#names li[data-bought]")).to_have_count(5)
    expect(projector.get_by_role("button", name="The same again with naive")).to_be_visible()


def sell_to(others: list[Phone], projector: Page, *phones: Page) -> None:
    """Let all buy at the opening; the pages' owners press Enter in time."""
    stage = projector.locator("#stage")
    expect(stage).to_have_attribute("data-phase", "waiting")
    expect(projector.locator(".count")).to_have_text(re.compile(r"\d+ s"))
    for page in phones:
        expect(page.get_by_role("button")).to_have_text(OPENS, timeout=SLOW)
        page.get_by_role("button").focus()
    for phone in others:
        phone.answer = {}
    buy_together(others, int(stage.get_attribute("data-round") or 0))
    for page in phones:
        page.keyboard.press("Enter")


def test_a_nickname_is_taken_off_the_screen(shop: Shop, screen: Open) -> None:
    projector = screen(f"{shop.lab}/classroom", PROJECTOR)
    join(screen, shop, "Ada")
    join(screen, shop, "Rude")
    chip = projector.locator("#names").get_by_role("button", name="Rude")
    chip.focus()
    projector.keyboard.press("Enter")
    expect(projector.locator("#names")).not_to_contain_text("Rude")
    expect(projector.locator("#names")).to_contain_text("Ada")
    looks_right(projector)
    projector.get_by_title("Show this nickname").click()
    expect(chip).to_be_visible()


def test_the_projector_goes_on_where_it_was_cut_off(shop: Shop, screen: Open) -> None:
    page = screen(f"{shop.lab}/classroom", PROJECTOR, "dark")
    asked: list[Request] = []
    page.on("request", lambda each: asked.append(each) if "/events" in each.url else None)
    page.reload()
    join(screen, shop, "Ada")
    expect(page.locator("#names")).to_contain_text("Ada")
    looks_right(page)
    shop.child("lab").children()[0].kill()  # its worker
    join(screen, shop, "Bo")
    expect(page.locator("#names")).to_contain_text("Bo", timeout=SLOW)
    expect(page.locator("#lost")).to_be_hidden(timeout=SLOW)
    assert re.fullmatch(r"[0-9a-f]+\.[0-9a-f]+", asked[-1].all_headers()["last-event-id"])
