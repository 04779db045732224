"""Steps and checks for every page of the class."""

from __future__ import annotations

import re
from collections.abc import Callable

import requests
from playwright.sync_api import Locator, Page, expect

from tests.e2e.accessibility import barriers
from tests.support.shop import Shop

SLOW = 20_000  # ms: a sale closes seconds after the last purchase, and then the audit counts
PHONE, PROJECTOR = (360, 740), (1920, 1080)
SIZES = (PROJECTOR, (1280, 720), (390, 844))  # px
OPENS = re.compile(r"Opens in \d+ s")

Open = Callable[..., Page]

BOX = """(element) => {
  const { top, left, bottom, right, width } = element.getBoundingClientRect();
  return width > 0 && top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth;
}"""


def start(shop: Shop, **wanted: int | str) -> int:
    answer = requests.post(f"{shop.lab}/classroom/sale", json=wanted, timeout=10)
    assert answer.status_code == 201, answer.text
    return int(answer.json()["round"])


def join(screen: Open, shop: Shop, name: str, scheme: str = "light") -> Page:
    page = screen(f"{shop.url}/class", scheme=scheme)
    expect(page.get_by_label("Nickname")).to_be_focused()
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    page.wait_for_url("**/class")
    return page


def looks_right(page: Page) -> None:
    assert barriers(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def in_sight(*parts: Locator) -> None:
    """Check that each is fully visible, without scrolling."""
    for part in parts:
        part.page.evaluate("scrollTo(0, 0)")
        assert part.evaluate(BOX), f"beyond the edge: {part}"
