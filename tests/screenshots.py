"""The pictures in README and docs: real scenes of a real shop (`make screenshots`)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from playwright.sync_api import Page, expect, sync_playwright

from tests.e2e import scenes
from tests.support.browser import NO_CHROMIUM, chromium
from tests.support.shop import Shop

FOLDER = Path(__file__).parents[1] / "docs" / "screenshots"
PROJECTOR = (1280, 800)
PHONE = (360, 740)
# The shop's address on a projector: one that leads nowhere (RFC 5737), as some will scan a picture.
EXAMPLE = "http://192.0.2.7:8000"


class Picture(NamedTuple):
    """`scene` leaves the page ready for the picture."""

    scene: Callable[[Page, Shop], None]
    size: tuple[int, int] = PROJECTOR  # px


def shelf(page: Page, shop: Shop) -> None:
    scenes.shelf(shop)
    page.goto(shop.url)


def stampede(page: Page, shop: Shop) -> None:
    page.goto(shop.lab + scenes.stampede(shop))
    scenes.seen_to_its_end(page)
    expect(page.locator("#chart svg .over")).to_have_attribute("d", scenes.AREA)


def round_of_a_class(page: Page, shop: Shop) -> None:
    page.goto(shop.lab + scenes.oversold_by_hand(shop))
    expect(page.locator("#audit")).to_have_attribute(
        "data-verdict", "oversold", timeout=scenes.SLOW
    )


def explorer(page: Page, shop: Shop) -> None:
    page.goto(f"{shop.lab}/explorer/naive?step=4")
    expect(page.locator("#player")).to_be_visible(timeout=scenes.SLOW)


def scheduler(page: Page, shop: Shop) -> None:
    """Show how the visitor has sold one apple twice."""
    page.goto(f"{shop.lab}/explorer/naive/scheduler")
    for buyer in "ABBBAA":
        page.get_by_role("link", name=f"{buyer} moves", exact=True).click()
    expect(page.locator(".news .finding")).to_be_visible()


def read(page: Page, shop: Shop) -> None:
    page.goto(f"{shop.lab}/read/lock:unowned...lock:lease")


def compare(page: Page, shop: Shop) -> None:
    page.goto(shop.lab + scenes.comparison(shop, stock=200))
    scenes.compared(page)


def classroom(page: Page, shop: Shop) -> None:
    page.goto(f"{shop.lab}/classroom")
    scenes.class_oversold(shop)
    expect(page.locator("#stage")).to_have_attribute(
        "data-verdict", "oversold", timeout=scenes.SLOW
    )
    expect(page.get_by_role("button", name="The same again with watch")).to_be_visible()


def transactions(page: Page, shop: Shop) -> None:
    page.goto(f"{shop.lab}/transactions/watch-notices")
    expect(page.locator("#player")).to_be_visible(timeout=scenes.SLOW)
    page.keyboard.press("End")


# By the name of the file, without its ending.
PICTURES = {
    "shop": Picture(shelf, (1280, 1180)),
    "order": Picture(scenes.order, PHONE),
    "busy": Picture(scenes.busy, PHONE),
    "stampede": Picture(stampede),
    "round": Picture(round_of_a_class),
    "explorer": Picture(explorer),
    "scheduler": Picture(scheduler),
    "read": Picture(read),
    "transactions": Picture(transactions),
    "compare": Picture(compare, (1280, 1000)),
    "classroom": Picture(classroom, (1280, 1060)),
}


def take(name: str, picture: Picture, page: Page, shop: Shop) -> Path:
    width, height = picture.size
    page.set_viewport_size({"width": width, "height": height})
    picture.scene(page, shop)
    path = FOLDER / f"{name}.png"
    page.screenshot(path=path, animations="disabled")
    return path


def main(names: list[str]) -> None:
    """Take all pictures, or those that are named."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = chromium(playwright)
        if browser is None:
            sys.exit(NO_CHROMIUM)
        shop = Shop(Path(folder), SHOP_URL=EXAMPLE)
        shop.start()
        try:
            for name in names or PICTURES:
                page = browser.new_page(reduced_motion="reduce", locale="en-GB")
                path = take(name, PICTURES[name], page, shop)
                print(f"{path.relative_to(FOLDER.parents[1])}: {path.stat().st_size // 1024} KiB")
                page.close()
        finally:
            shop.close()


if __name__ == "__main__":
    main(sys.argv[1:])
