"""The subject of each page is on its first screen, since a lecture does not scroll.

At the projector's size, a small laptop's and a phone's, in both languages and both schemes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

import pytest
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

from tests.e2e import scenes
from tests.support.shop import Shop

PROJECTOR: ViewportSize = {"width": 1920, "height": 1080}  # px
LAPTOP: ViewportSize = {"width": 1280, "height": 720}
PHONE: ViewportSize = {"width": 390, "height": 844}
SIZES = (PROJECTOR, LAPTOP, PHONE)
ZH = {"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.8"}
SEEN = 60  # px of a chart that the last row can read, on the smallest of the three
LINES = 200  # px that show some lines of code
LARGEST = """() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const sizes = [];
  while (texts.nextNode()) {
    const { parentElement: parent, data } = texts.currentNode;
    if (!data.trim() || !parent.checkVisibility() || parent.closest("#finding")) continue;
    sizes.push(parseFloat(getComputedStyle(parent).fontSize));
  }
  return Math.max(...sizes);
}"""


class Visitor(NamedTuple):
    language: str
    scheme: Literal["light", "dark"]


@pytest.fixture(params=[Visitor("en", "light"), Visitor("zh", "dark")], ids="-".join)
def page(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    language, scheme = request.param
    headers = ZH if language == "zh" else {}
    with browser.new_context(color_scheme=scheme, extra_http_headers=headers) as context:
        page = context.new_page()
        page.set_default_timeout(10_000)
        yield page


def sizes(page: Page) -> Iterator[ViewportSize]:
    for size in SIZES:
        page.set_viewport_size(size)
        page.evaluate("() => new Promise((drawn) => setTimeout(drawn, 300))")  # charts follow
        page.evaluate("scrollTo(0, 0)")
        yield size


def on_screen(page: Page, *parts: str | Locator) -> None:
    size = page.viewport_size
    assert size
    for part in parts:
        located = page.locator(part) if isinstance(part, str) else part
        box = located.bounding_box()
        assert box, f"{part} is not to be seen at {size}"
        assert min(box["x"], box["y"]) >= 0, (part, box)
        assert box["x"] + box["width"] <= size["width"], (part, size, box)
        assert box["y"] + box["height"] <= size["height"], (part, size, box)


def height(page: Page, part: str) -> float:
    box = page.locator(part).bounding_box()
    assert box, part
    return box["height"]


def test_verdict_figures_and_course_of_a_stampede(page: Page, shop: Shop, oversold: str) -> None:
    page.goto(shop.lab + oversold)
    expect(page.locator("#chart svg .over")).to_have_attribute("d", scenes.AREA)
    for size in sizes(page):
        on_screen(page, "#verdict", "[data-figure=left]", "[data-figure=sold]")
        on_screen(page, "#chart svg", page.locator(".ways-in a").last)
        assert height(page, "#chart svg .left") >= SEEN, f"the stock's fall, at {size}"
        assert height(page, "#chart svg .over") >= SEEN, f"what was sold beyond it, at {size}"
        on_screen(page, "#chart svg .crossing")
        for figure in page.locator(".large dd").all():
            large = figure.evaluate("dd => parseFloat(getComputedStyle(dd).fontSize)")
            assert large >= 28 * (2 if size is PROJECTOR else 1)
    expect(page.locator("[data-figure=left]")).to_have_text("0")
    expect(page.locator("[data-figure=sold]")).to_have_class("wrong")
    expect(page.locator("progress"), "green under a red verdict").to_be_hidden()


def test_a_stampede_that_is_on_moves_before_everybodys_eyes(page: Page, shop: Shop) -> None:
    run = scenes.stampede(shop, item="plum", stock=100_000, think_ms=5, buyers=4)
    page.goto(shop.lab + run)
    left, sold = page.locator("[data-figure=left]"), page.locator("[data-figure=sold]")
    expect(sold).to_have_text(re.compile("[1-9]"), timeout=scenes.SLOW)
    for _ in sizes(page):
        before = left.inner_text(), sold.inner_text()
        on_screen(page, "#verdict", left, sold, "#chart svg", "#stop button", "progress")
        expect(left).not_to_have_text(before[0])
        expect(sold).not_to_have_text(before[1])
    page.locator("#stop button").click()
    scenes.seen_to_its_end(page)


@pytest.mark.parametrize("path", ["/", "/stampede", "/compare"])
def test_a_long_form_keeps_its_button_on_the_screen(page: Page, shop: Shop, path: str) -> None:
    page.goto(shop.lab + path)
    for _ in sizes(page):
        on_screen(page, page.locator("main form .button").first)
    page.locator("#wait_ms").focus()  # far below
    field, bar = page.locator("#wait_ms").bounding_box(), page.locator(".go").bounding_box()
    assert field
    assert bar
    assert field["y"] + field["height"] <= bar["y"], "the bar lies over what one types into"


def test_what_a_comparison_found_is_its_largest_sentence(
    page: Page, shop: Shop, compared: str
) -> None:
    page.goto(shop.lab + compared)
    finding, rows = page.locator("#finding"), page.locator(".bars .row")
    expect(finding.locator("p")).to_have_count(2)
    expect(finding).to_contain_text("naive")
    for size in sizes(page):
        on_screen(page, finding, rows.first)
        largest = finding.locator("p").first.evaluate(
            "p => parseFloat(getComputedStyle(p).fontSize)"
        )
        assert largest > page.evaluate(LARGEST), size
        if size is not PHONE:  # there the four take a screen of their own
            on_screen(page, *rows.all())


@pytest.mark.parametrize("pair", ["naive...watch", "lock:lease...lock:fenced"])
def test_two_side_by_side_open_where_they_sell(page: Page, shop: Shop, pair: str) -> None:
    page.goto(f"{shop.lab}/read/{pair}")
    for size in sizes(page):
        first = page.locator("table.diff:visible tbody tr").first
        expect(first).to_contain_text(re.compile(r"def (sell|attempt)\("))
        box = first.bounding_box()
        assert box
        assert box["y"] + LINES <= size["height"], "and some lines of what it does"


def test_naive_beside_watch_shows_all_of_both_on_a_projector(page: Page, shop: Shop) -> None:
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.goto(f"{shop.lab}/read/naive...watch")
    on_screen(page, "table.diff:visible tbody tr >> nth=-1")


def test_a_round_that_nobody_has_touched_has_no_tick(page: Page, shop: Shop) -> None:
    number = shop.round("atomic", 10, "fig")["round"]
    page.goto(f"{shop.lab}/rounds/fig/{number}")
    expect(page.locator("#audit")).to_have_attribute("data-verdict", "untouched")
    expect(page.locator("#audit .icon [data-for=exact]")).to_be_hidden()
    for _ in sizes(page):
        on_screen(page, "#audit", ".bar svg")


SHELF = ["[data-slug=apple] .stock", "[data-slug=apple] .buy", ".welcome h1"]
# By address in the lab: the main part of the page.
CAME_FOR = {
    "/classroom": ["#stage .sentence", ".tiles", "#actions .button >> nth=0"],
    "/explorer": ["h1", ".rounds .ways-in >> nth=0"],
    "/read": ["h1", "main form .button >> nth=0"],
    "/read/naive": ["h1", ".ways-in", ".promises"],
    "/history": ["h1", ".card >> nth=0"],
}


@pytest.mark.parametrize("path", CAME_FOR)
def test_what_one_came_for(page: Page, shop: Shop, oversold: str, path: str) -> None:
    """`oversold` is in the history."""
    page.goto(shop.lab + path)
    for size in sizes(page):
        on_screen(page, *CAME_FOR[path])
        if path == "/classroom" and size is not PHONE:  # there the way in is below
            on_screen(page, ".door .address")


def test_what_a_customer_came_for(page: Page, shop: Shop) -> None:
    shop.round("atomic", 9)
    page.goto(shop.url)
    for _ in sizes(page):
        on_screen(page, *SHELF)
    scenes.send(page, "apple")
    for _ in sizes(page):
        on_screen(page, "h1", ".lead", ".steps li >> nth=0")
    page.goto(f"{shop.url}/orders")
    for _ in sizes(page):
        on_screen(page, "h1", "main a[href^='/orders/'] >> nth=0")


def test_what_a_student_came_for(page: Page, shop: Shop) -> None:
    page.goto(f"{shop.url}/class")
    for _ in sizes(page):
        on_screen(page, "#name", "main .button")
    page.locator("#name").fill("Ada")
    page.locator("main .button").click()
    page.wait_for_url("**/class")
    for _ in sizes(page):
        on_screen(page, ".who", ".plate", "#said")
