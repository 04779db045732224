"""MULTI on the projector: both servers next to each other, step by step, on one screen."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from app.lab.transactions import CASES
from tests.support.shop import Shop

SIZES = [(1920, 1080), (1280, 720), (390, 844)]
LANGUAGES = {"en": "en", "zh": "zh-CN,zh;q=0.9,en;q=0.8"}
DESKTOP = pytest.mark.parametrize("context", ["desktop"], indirect=True)
# Of each page as it is now: the parts of both servers that are not visible without scrolling.
HIDDEN = """(wanted) => {
  const inside = (element) => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.height > 0 && box.left >= 0 && box.right <= innerWidth
      && box.top >= 0 && box.bottom <= innerHeight;
  };
  const parts = [document.querySelector("h1"), document.querySelector("#player .button")];
  const sides = [...document.querySelectorAll(".side")];
  for (const side of sides)
    for (const part of wanted) {
      const found = [...side.querySelectorAll(part)];
      parts.push(found.length === 1 ? found[0] : null);
    }
  const hidden = parts.map((part, at) => part && inside(part) ? "" : `${at}: ${part?.innerText}`);
  return sides.length === 2 ? hidden.filter(Boolean) : ["not two sides"];
}"""
AT_ONCE = [".stock", ".said [aria-current]", ".said [aria-current] .reply"]


def opened(page: Page, address: str) -> None:
    """Open the page and wait until both servers have played; the page itself polls."""
    page.goto(address)
    expect(page.locator("#player")).to_be_visible(timeout=60_000)


def at_each_size(page: Page, case: str, end: bool) -> None:
    """Check with one call for each size: a call to the browser is what costs."""
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        wanted = [*AT_ONCE, ".so"] if end else AT_ONCE
        assert page.evaluate(HIDDEN, wanted) == [], (case, width)


@pytest.mark.parametrize("language", LANGUAGES.values(), ids=LANGUAGES)
def test_each_case_on_the_first_screen(browser: Browser, shop: Shop, language: str) -> None:
    context = browser.new_context(extra_http_headers={"Accept-Language": language})
    page = context.new_page()
    opened(page, f"{shop.lab}/transactions")
    for case in CASES:
        page.goto(f"{shop.lab}/transactions/{case.name}")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        at_each_size(page, case.name, end=False)
        page.keyboard.press("End")
        at_each_size(page, case.name, end=True)
    context.close()


@DESKTOP
def test_by_keyboard_from_case_to_case(page: Page, shop: Shop) -> None:
    opened(page, f"{shop.lab}/transactions/error-while-queuing")
    steps = page.locator(".said li:visible")
    expect(steps).to_have_count(0)
    page.keyboard.press("ArrowRight")
    expect(steps).to_have_text([re.compile("MULTI"), re.compile("BEGIN")])
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    expect(steps).to_have_count(2)
    expect(page).to_have_url(re.compile(r"error-while-queuing\?step=1$"))
    page.keyboard.press("End")
    expect(page.get_by_text("EXEC answers EXECABORT; the SET before")).to_be_visible()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**/error-inside-exec")  # loaded: its heading is there before its script
    expect(page.get_by_role("heading", name="An error inside EXEC")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("heading", name="An error while queuing")).to_be_visible()


@DESKTOP
def test_a_screen_reader_is_told_each_step_of_both(page: Page, shop: Shop) -> None:
    opened(page, f"{shop.lab}/transactions/watch-notices")
    for _ in range(6):
        page.get_by_role("link", name="One step on").press("Enter")
    said = page.get_by_role("status")
    expect(said).to_contain_text(
        "Valkey: A says EXEC and is answered (nil). "
        "Refused: another client has written what was watched."
    )
    expect(said).to_contain_text("PostgreSQL: A says COMMIT and is answered COMMIT.")
    expect(page.locator(".stock dd:visible")).to_have_text(["1", "2"])


def test_without_javascript(browser: Browser, shop: Shop) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{shop.lab}/transactions/queued")
    expect(page.locator("#player")).to_be_visible(timeout=60_000)
    page.get_by_role("link", name="One step on").click()
    expect(page).to_have_url(re.compile("step=1$"))
    page.get_by_role("link", name="To the end").click()
    expect(page.get_by_text("B reads 3 before EXEC and 2 after it")).to_be_visible()
    page.get_by_role("button", name="Play all of them again").click()
    expect(page.get_by_role("heading", name=re.compile("nothing is done"))).to_be_visible(
        timeout=60_000
    )
    context.close()
