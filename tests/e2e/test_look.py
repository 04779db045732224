"""Every page of shop and lab, at four widths, two of them dark: nothing beyond the edge, no axe
finding, no motion for visitors that reduce it, no more than 100 KiB.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import pytest
import requests
from flask import Flask
from playwright.sync_api import Browser, Page, Response, expect

from app import create_lab, create_shop
from app.config import Settings
from tests.e2e import scenes
from tests.e2e.accessibility import barriers
from tests.support.command_line import full_environ
from tests.support.shop import Shop

# By width, px: the height, and the scheme. Colours differ by scheme only, and places by width.
SCREENS: dict[int, tuple[int, Literal["light", "dark"]]] = {
    360: (740, "light"),
    768: (1024, "dark"),
    1440: (900, "light"),
    1920: (1080, "dark"),
}
FOR_AXE = {360, 1920}
FIRST_VIEW = 100 * 1024  # bytes, without the chart library
LAST_ROW = 20  # px on a picture 1080 high: about a fiftieth of it
# Addresses that answer with no page of their own.
NO_PAGES = {"/static/<path:filename>", "/items", "/about", "/rounds/<item>"}
NO_PAGES |= {"/healthz", "/readyz", "/openapi.json", "/metrics"}
NO_PAGES |= {"/rounds/<item>/<int:number>/holds"}
NO_PAGES |= {"/rounds/<item>/<int:number>/audit", "/runs/<id>/events", "/read/diff"}
NO_PAGES |= {"/class/state", "/classroom/events", "/comparisons/<id>/events"}
NO_PAGES |= {"/comparisons/<id>/export.<form>"}

TOO_WIDE = "document.documentElement.scrollWidth - innerWidth"
MOVES = """() => [...document.querySelectorAll("*")].filter((element) => {
  const styles = [null, "::before", "::after"].map((part) => getComputedStyle(element, part));
  return styles.some((style) => style.animationName !== "none"
    || (style.transitionProperty !== "none" && !/^0s(, 0s)*$/.test(style.transitionDuration)));
}).map((element) => element.outerHTML.slice(0, 80))"""
TRANSFERRED = """() => performance.getEntries()
  .filter(({ entryType }) => /navigation|resource/.test(entryType))
  .reduce((bytes, { transferSize }) => bytes + transferSize, 0)"""
TRANSFERRED_PAGE = "performance.getEntriesByType('navigation')[0].transferSize"
TOO_SMALL = """(least) => {
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const small = new Set();
  while (texts.nextNode()) {
    const { parentElement: parent, data } = texts.currentNode;
    if (!data.trim() || !parent.checkVisibility()) continue;
    if (parent.closest("svg, .visually-hidden")) continue;
    if (parseFloat(getComputedStyle(parent).fontSize) < least) small.add(data.trim());
  }
  return [...small];
}"""


@pytest.fixture(scope="module")
def furnished(shop: Shop) -> Shop:
    scenes.shelf(shop)
    return shop


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of a visitor that reduces motion; fails on errors in the console."""
    context = browser.new_context(reduced_motion="reduce")
    errors: list[str] = []
    context.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    context.on("weberror", lambda error: errors.append(str(error.error)))
    page = context.new_page()
    # A cache would hide the cost of the first view of a page.
    context.new_cdp_session(page).send("Network.setCacheDisabled", {"cacheDisabled": True})
    yield page
    context.close()
    assert not [text for text in errors if "Failed to load resource" not in text]


def paths(app: Flask, examples: dict[str, list[str]]) -> Iterator[str]:
    """Yield every page that `app` has. Fails for one without an example."""
    for rule in app.url_map.iter_rules():
        if "GET" in (rule.methods or ()) and rule.rule not in NO_PAGES:
            assert rule.rule in examples, f"give an address of {rule.rule}, or say: no page"
            yield from examples[rule.rule]


def looked_at(page: Page, lab: bool = False) -> None:
    """Check the current page at every width."""
    assert page.evaluate(MOVES) == []
    for width, (height, scheme) in SCREENS.items():
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate(TOO_WIDE) <= 0, f"wider than {width} px: {page.url}"
        if width in FOR_AXE:
            assert barriers(page) == [], page.url
        if lab and height == 1080:
            assert page.evaluate(TOO_SMALL, LAST_ROW) == [], page.url


def strict(answer: Response | None) -> None:
    """Check that no script and no style of the page's own may run."""
    assert answer
    rules = answer.headers["content-security-policy"].split("; ")
    assert "default-src 'self'" in rules
    assert [rule for rule in rules if "unsafe" in rule] == []


def visited(page: Page, address: str) -> None:
    strict(page.goto(address))
    searching = page.locator("[data-again]")  # the explorer returns to it by itself
    expect(searching).to_have_count(0, timeout=scenes.SLOW)
    assert page.evaluate(TRANSFERRED) < FIRST_VIEW, address


def test_every_page_of_the_shop(page: Page, furnished: Shop) -> None:
    sold = furnished.buy(requests.Session(), item="plum").json()["order"]
    examples = {"/": ["/"], "/orders": ["/orders"], "/orders/<uuid:id>": [f"/orders/{sold}"]}
    examples |= {"/class": ["/class"], "/class/name": ["/class/name"], "/contract": ["/contract"]}
    app = create_shop(Settings.read(full_environ(furnished.environ)))
    for path in (*paths(app, examples), "/nowhere"):
        visited(page, furnished.url + path)
        looked_at(page)


@pytest.mark.parametrize(
    "scene",
    [scenes.orders, scenes.sold_out, scenes.fewer_left, scenes.busy, scenes.not_open],
)
def test_every_answer_of_the_shop(
    page: Page, furnished: Shop, scene: Callable[[Page, Shop], None]
) -> None:
    scene(page, furnished)
    looked_at(page)


def test_every_page_of_the_lab(page: Page, furnished: Shop, oversold: str, compared: str) -> None:
    examples = {
        "/contract": ["/contract"],
        "/": ["/?mode=lock&recipe=lease&think_ms=12000"],
        "/rounds/<item>/<int:number>": ["/rounds/pear/1"],
        "/stampede": ["/stampede"],
        "/explorer": ["/explorer"],
        "/explorer/<name>": [
            *("/explorer/lock:lease?finding=oversell&step=4", "/explorer/atomic"),
            "/explorer/durian",
        ],
        "/explorer/<name>/scheduler": ["/explorer/naive/scheduler?buyers=3&moves=ABCxA"],
        "/transactions": ["/transactions?step=3"],
        "/transactions/<name>": ["/transactions/error-inside-exec?step=7"],
        "/read": ["/read"],
        "/read/<name>": [
            *("/read/lock", "/read/lock:lease", "/read/decr", "/read/naive...watch", "/read/durian")
        ],
        "/runs/<id>": [oversold],
        "/compare": ["/compare"],
        "/comparisons/<id>": [compared],
        "/history": ["/history"],
        "/classroom": ["/classroom"],
    }
    app = create_lab(Settings.read(full_environ(furnished.environ)))
    for path in (*paths(app, examples), "/nowhere"):
        visited(page, furnished.lab + path)
        looked_at(page, lab=True)
        here = page.locator(".site-head [aria-current=page]").count()
        assert here == (path not in ("/contract", "/nowhere")), path


def test_a_large_page_comes_packed(page: Page, furnished: Shop) -> None:
    visited(page, f"{furnished.lab}/explorer/decr")
    packed = page.evaluate(TRANSFERRED_PAGE)
    assert packed < len(page.content()) / 2
