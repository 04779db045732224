"""The cost of a lab page for the stampede that it shows (`make soak`). Ends with 1 if too high.

Within one run the page is open for a while and then closed, in turns: other load on a busy machine
affects both halves of a pair. The page shares the machine with shop, store and load, which is the
worst case.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import requests
from playwright.sync_api import Page, ViewportSize, expect, sync_playwright

from tests.e2e import scenes
from tests.support.browser import NO_CHROMIUM, chromium
from tests.support.shop import Shop

PROJECTOR: ViewportSize = {"width": 1920, "height": 1080}  # px
RUNS = 6
LASTS = 120  # s, the longest run
WINDOW = 8.0  # s that are counted
SETTLES = 1.5  # s that are not: a page that was just opened
MOST = 0.05  # of the goodput: what the page may cost


def sold(shop: Shop) -> tuple[float, int]:
    """Return the time, and how many have been sold by then."""
    left = requests.get(f"{shop.lab}/rounds/apple", timeout=10).json()["left"]
    return time.monotonic(), left


def goodput(shop: Shop) -> float:
    """Return the sales per second from now on."""
    began, before = sold(shop)
    time.sleep(WINDOW)
    ended, after = sold(shop)
    return (before - after) / (ended - began)


def pairs(page: Page, shop: Shop) -> Iterator[float]:
    """Yield goodput with ÷ without the page, through one run: with, without; without, with; …"""
    began = time.monotonic()
    run = scenes.stampede(
        shop, mode="atomic", stock=1_000_000_000, think_ms=0, buyers=16, seconds=LASTS
    )
    with_first = True
    while time.monotonic() + 2 * (WINDOW + 2 * SETTLES) < began + LASTS:
        measured = {}
        for there in (with_first, not with_first):
            page.goto(shop.lab + run if there else "about:blank")
            if there:
                expect(page.locator("#chart svg").first).to_be_visible()
            time.sleep(SETTLES)
            measured[there] = goodput(shop)
        with_first = not with_first
        yield measured[True] / measured[False]
    requests.post(f"{shop.lab}{run}/stop", json={}, timeout=10)
    page.goto(shop.lab + run)
    scenes.seen_to_its_end(page)


def main() -> int:
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = chromium(playwright)
        if browser is None:
            print(NO_CHROMIUM, file=sys.stderr)
            return 1
        shop = Shop(Path(folder))
        shop.start()
        try:
            page = browser.new_page(viewport=PROJECTOR)
            ratios: list[float] = []
            for number in range(1, RUNS + 1):
                ratios += pairs(page, shop)
                print(f"{number} of {RUNS} runs:", " ".join(f"{each:.3f}" for each in ratios))
        finally:
            shop.close()
    mean = statistics.fmean(ratios)
    error = statistics.stdev(ratios) / len(ratios) ** 0.5
    print(
        f"goodput with ÷ without a lab page, {len(ratios)} pairs of {WINDOW:.0f} s: "
        f"{min(ratios):.2f} to {max(ratios):.2f}, median {statistics.median(ratios):.3f}, "
        f"mean {mean:.3f} ± {error:.3f} (standard error)"
    )
    return int(mean + 2 * error < 1 - MOST)


if __name__ == "__main__":
    sys.exit(main())
