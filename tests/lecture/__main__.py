"""`make lecture`: play the lecture with a clock. Exit status 1 when a part does not fit."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

from tests.lecture.languages import ENGLISH, TONGUES
from tests.lecture.plan import TEN, Part, parts
from tests.lecture.room import Room
from tests.lecture.scenes import SCENES, before_the_class, the_class_comes
from tests.support.browser import NO_CHROMIUM, chromium
from tests.support.shop import Shop

# The usual settings of a shop, not those of a shop that shares its machine with other tests.
USUAL = {"SHOP_THREADS": "16", "STORE_TIMEOUT": "400"}


def clock(seconds: float | None) -> str:
    return "" if seconds is None else f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def row(language: str, part: Part, waits: list[float]) -> float:
    """Print one line of the table. Return how long the part takes, in s."""
    takes = part.takes(waits)
    told = ", ".join(
        f"{measured:.1f} of {wait.announced:.0f}"
        for measured, wait in zip(waits, part.waits, strict=True)
    )
    print(
        f"{language}  {clock(part.begins):>5}  {part.speech:5.0f}  {told:<33}"
        f"{takes:5.0f} {part.has:4} {part.has - takes:+5.0f}  {part.title}"
    )
    return takes


def played(where: Room) -> list[list[float]]:
    """Play all parts. Return the measured waits of each part, in s."""
    found = []
    for part in parts(ENGLISH):
        where.waits, where.clicks = [], 0
        SCENES[part.title](where)
        assert where.clicks == part.clicks, f"{part.title}: {where.clicks} clicks"
        found.append(where.waits)
    return found


def main() -> int:
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = chromium(playwright)
        if browser is None:
            sys.exit(NO_CHROMIUM)
        shop = Shop(Path(folder), **USUAL)
        shop.start()
        try:
            where = Room(browser, shop)
            began = time.monotonic()
            before_the_class(where)
            took = clock(time.monotonic() - began)
            print(f"before the class the machine is busy for {took}\n", flush=True)
            the_class_comes(where)
            waits = played(where)
        finally:
            shop.close()
    print("    begins  says  waits: measured of announced, s  takes  has  left  part")
    late = False
    for tongue in TONGUES:
        plan = parts(tongue)
        takes = [row(tongue.language, *each) for each in zip(plan, waits, strict=True)]
        late |= any(took > part.has for took, part in zip(takes, plan, strict=True))
        fixed = sum(took for took, part in zip(takes, plan, strict=True) if part.begins is not None)
        print(f"{tongue.language}  without the optional parts {clock(fixed)} of {clock(TEN)}\n")
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
