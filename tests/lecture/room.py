"""A lecturer's browser and a class's phones. Waits are measured, clicks are counted."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.scenes import SLOW
from tests.support.phones import Phone
from tests.support.shop import Shop

PROJECTOR, PHONE = (1920, 1080), (390, 844)
CLASS = 24
REACTION = (0.3, 1.5)  # s until a waiting person has pressed a button


class Room:
    """`page` is the tab on the projector; `eve` is one of the phones, with a browser."""

    def __init__(self, browser: Browser, shop: Shop) -> None:
        self.shop = shop
        self.phones = [Phone(shop.url, f"Phone {number}") for number in range(1, CLASS)]
        width, height = PROJECTOR
        self.desk = browser.new_context(viewport={"width": width, "height": height}, locale="en")
        self.lab = self.tab(shop.lab)
        self.page = self.lab
        width, height = PHONE
        self.eve = browser.new_page(viewport={"width": width, "height": height}, locale="en")
        self.waits: list[float] = []
        self.clicks = 0

    def tab(self, address: str) -> Page:
        page = self.desk.new_page()
        page.set_default_timeout(SLOW)
        page.goto(address)
        return page

    def turn_to(self, tab: Page) -> None:
        self.clicks += 1
        tab.bring_to_front()
        self.page = tab

    def go_to(self, name: str) -> None:
        """Open a part of the lab."""
        bar = self.page.get_by_role("navigation", name="Lab", exact=True)
        self.click_on(bar.get_by_role("link", name=name, exact=True))

    def click(self, name: str, aside: bool = False) -> None:
        """Click on a link or a button; `aside` opens a new tab."""
        link = self.page.get_by_role("link", name=name, exact=True)
        button = self.page.get_by_role("button", name=name, exact=True)
        self.click_on(link.or_(button).first, aside)

    def click_on(self, button: Locator, aside: bool = False) -> None:
        self.clicks += 1
        button.click(modifiers=["Control"] if aside else [])

    def press(self, keys: str) -> None:
        """Press several keys; they count as one click."""
        self.clicks += 1
        self.play(keys)

    def play(self, keys: str) -> None:
        """Press the keys one after the other, each when the page has handled the one before."""
        for key in keys.split():
            self.page.keyboard.press(key)
            self.page.wait_for_timeout(150)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        began = time.monotonic()
        yield
        self.waits.append(time.monotonic() - began)

    def sale(self, start: str) -> None:
        """Run a sale to the class, from the click to the verdict."""
        self.click(start)
        stage = self.page.locator("#stage")
        expect(stage).to_have_attribute("data-phase", "waiting", timeout=SLOW)
        number = int(stage.get_attribute("data-round") or 0)
        with ThreadPoolExecutor(len(self.phones)) as hands:
            pressed = [hands.submit(buy, phone, number) for phone in self.phones]
            expect(self.eve.locator("#said")).to_have_text("It is open: buy now!", timeout=SLOW)
            self.eve.wait_for_timeout(1000 * random.uniform(*REACTION))
            self.eve.get_by_role("button").click()
        for each in pressed:
            each.result()
        expect(stage).to_have_attribute("data-phase", "over", timeout=SLOW)


def buy(phone: Phone, number: int) -> None:
    phone.close()  # its connection ended while it was asleep
    phone.answer = {}
    phone.wait_for(number)
    time.sleep(random.uniform(*REACTION))
    phone.press()
