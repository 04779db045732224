"""The explorer's pages as they are shown: their main parts are in the first screen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e import viewport
from tests.e2e.viewport import LANGUAGES, SCHEMES, SIZES, Scheme, beyond
from tests.support.shop import Shop

WIDE = SIZES[:2]
READABLE = 20 / 1080  # of the picture's height: readable in the last row

FONT = "line => parseFloat(getComputedStyle(line).fontSize)"


@pytest.fixture(params=SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def size(request: pytest.FixtureRequest) -> tuple[int, int]:
    found: tuple[int, int] = request.param
    return found


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def page(browser: Browser, size: tuple[int, int], language: str) -> Iterator[Page]:
    # The schemes differ in colours only, so each size is checked in one of them.
    scheme: Scheme = SCHEMES[SIZES.index(size) % 2]
    page = viewport.opened(browser, size, language, scheme)
    yield page
    page.context.close()


def searched(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator("[data-again]")).to_have_count(0, timeout=30_000)
    expect(page.locator(".screen")).to_be_visible()


def shown(page: Page) -> dict[str, Locator]:
    """Return the parts that player and scheduler show of one step."""
    now = "[data-at]:not([hidden])"
    return {
        "the step": page.locator(".news .deed").filter(visible=True),
        "stock, lock, sales": page.locator(".state dd:not([hidden])"),
        "what a buyer is": page.locator(f".buyer {now}"),
    }


def test_each_step_of_the_player(page: Page, shop: Shop, size: tuple[int, int]) -> None:
    searched(page, f"{shop.lab}/explorer/naive?step=0")
    for step in range(7):
        parts = shown(page) | {"controls": page.locator("#player a, #play, #slider")}
        if step == 6:
            parts["the finding"] = page.locator(".news .notice").filter(visible=True)
        if size in WIDE:
            parts["who stands where"] = page.locator(".line.now")
        assert list(beyond(parts)) == [], step
        page.keyboard.press("ArrowRight")


def test_what_a_buyer_believes(page: Page, shop: Shop, size: tuple[int, int]) -> None:
    """The answer to "What does A believe?": there is 1, as it read at step 1."""
    searched(page, f"{shop.lab}/explorer/naive?step=5")
    old = page.locator('[data-buyer="A"] .memory .tag.bad').filter(visible=True)
    expect(old).to_contain_text("0")
    expect(old).to_contain_text("B")
    expect(page.locator(".news .deed").filter(visible=True)).to_contain_text("B")
    assert list(beyond({"what A remembers": old})) == []


@pytest.mark.parametrize("language", ["en"])
@pytest.mark.parametrize("size", WIDE)
def test_other_ways_to_sell(page: Page, shop: Shop) -> None:
    for address in (
        "lock:lease?finding=oversell&step=6",
        "lock:lease?finding=two%20holders&step=3",
        "watch?failover=1&step=6",
        "decr?step=7",
    ):
        searched(page, f"{shop.lab}/explorer/{address}")
        parts = shown(page) | {"who stands where": page.locator(".line.now")}
        assert list(beyond(parts)) == [], address


def test_the_scheduler_in_one_screen(page: Page, shop: Shop, size: tuple[int, int]) -> None:
    """The moves, their results, the buyers' answers, and the reward."""
    for moves in ("", "A", "ABBB", "ABBBAA", "AAAAB"):
        searched(page, f"{shop.lab}/explorer/naive/scheduler?moves={moves}")
        parts = shown(page) | {"reward": page.locator("#reward > *")}
        parts["the moves"] = page.locator("[data-move]")
        if moves == "ABBBAA":
            parts["what went wrong"] = page.locator(".news .notice")
        if moves == "AAAAB":
            parts["what A is told"] = page.locator('[data-buyer="A"] .stands .tag')
        elif size in WIDE:
            parts["who stands where"] = page.locator(".line.now")
        assert list(beyond(parts)) == [], moves


@pytest.mark.parametrize("language", ["en"])
def test_the_source_says_what_is_done_and_the_last_row_can_read_it(
    page: Page, shop: Shop, size: tuple[int, int]
) -> None:
    searched(page, f"{shop.lab}/explorer/naive?step=3")
    lines = page.locator(".line")
    texts = [text.strip() for text in lines.all_text_contents()]
    assert texts[0].startswith("def sell(")
    assert texts[-1] == "return Sale(Outcome.SOLD, left=left, order=order)"
    assert [text for text in texts if not text or text.startswith(("#", '"""'))] == []
    if size in WIDE:
        assert lines.first.evaluate(FONT) >= READABLE * size[1]
