"""The parts that a page shows at once: without scrolling, at the usual sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from playwright.sync_api import Browser, Locator, Page

Scheme = Literal["light", "dark"]

SIZES = [(1920, 1080), (1280, 720), (390, 844)]  # px: projector, laptop, phone
LANGUAGES = ["en", "zh-CN"]
SCHEMES: list[Scheme] = ["light", "dark"]

# Not only inside of the window: also not covered, and not scrolled away within a box of its own.
BEYOND = """(element) => {
  const own = element.getBoundingClientRect();
  const boxes = [{ top: 0, left: 0, bottom: innerHeight, right: innerWidth }];
  for (let box = element.parentElement; box; box = box.parentElement) {
    if (/auto|scroll|hidden|clip/.test(getComputedStyle(box).overflowY) && box !== document.body) {
      boxes.push(box.getBoundingClientRect());
    }
  }
  if (!own.width || !own.height) return "not shown";
  const out = boxes.some((box) => own.top < box.top - 1 || own.left < box.left - 1
    || own.bottom > box.bottom + 1 || own.right > box.right + 1);
  return out ? `${Math.round(own.top)} to ${Math.round(own.bottom)} of ${innerHeight} px` : "";
}"""


def opened(browser: Browser, size: tuple[int, int], language: str, scheme: Scheme) -> Page:
    """Return a page of that size in a browser of its own; close its context."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        locale=language,
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.set_default_timeout(10_000)
    return page


def beyond(parts: dict[str, Locator]) -> Iterator[tuple[str, str]]:
    """Yield the parts that are not fully visible, with the reason. Each part must exist."""
    for name, locator in parts.items():
        found = locator.evaluate_all(f"elements => elements.map({BEYOND})")
        if not found:
            yield name, "not there"
        for where in found:
            if where:
                yield name, where
