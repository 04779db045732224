"""The lecture's parts, played as docs/lecture.md says."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.e2e.scenes import SLOW
from tests.lecture.room import Room
from tests.support.phones import Phone, together
from tests.support.servers import until


def before_the_class(room: Room) -> None:
    """Open the tabs of the comparison and of the shop, and warm up the other pages."""
    page = room.lab
    for name in ("naive", "watch"):
        page.goto(f"{room.shop.lab}/explorer/{name}")
        done = page.get_by_role("link", name="Be the scheduler", exact=True)
        expect(done).to_be_visible(timeout=SLOW)
    page.goto(f"{room.shop.lab}/transactions")
    expect(page.locator("#player")).to_be_visible(timeout=2 * SLOW)
    compare = room.tab(f"{room.shop.lab}/compare")
    compare.get_by_role("button", name="Start the comparison").click()
    expect(compare.locator(".state")).to_contain_text("Finished", timeout=20 * SLOW)
    page.goto(room.shop.lab)
    page.get_by_role("button", name="Start the round").click()
    room.tab(room.shop.url)
    page.goto(f"{room.shop.lab}/classroom")
    page.get_by_text("New class", exact=True).click()
    page.get_by_role("button", name="Begin a new class").click()


def the_class_comes(room: Room) -> None:
    room.eve.goto(f"{room.shop.url}/class")
    room.eve.get_by_label("Nickname").fill("Eve")
    room.eve.get_by_role("button", name="Join").click()
    together(room.phones, Phone.join)
    names = room.lab.locator("#names li")

    def all_on_the_wall() -> bool:
        """Are all names shown? Each phone asks, because a silent phone would be removed."""
        together(room.phones, Phone.ask)
        return names.count() == len(room.phones) + 1

    until(all_on_the_wall, SLOW / 1000)


def one_apple_too_many(room: Room) -> None:
    room.turn_to(shelf(room))
    expect(room.page.locator("[data-slug]")).to_have_count(6)
    room.turn_to(room.lab)


def stampede(room: Room) -> None:
    room.go_to("Stampede")
    with room.waiting():
        room.click("Start the stampede")
        expect(room.page.locator("#verdict")).to_have_attribute(
            "data-verdict", "oversold", timeout=2 * SLOW
        )


def why(room: Room) -> None:
    room.click("What goes wrong: naive")
    expect(room.page.locator("#play")).to_be_visible(timeout=SLOW)
    with room.waiting():
        room.press("Space")
        expect(room.page.locator("#play")).to_have_attribute("aria-pressed", "true")
        expect(room.page.locator("#play")).to_have_attribute("aria-pressed", "false", timeout=SLOW)
    room.press("ArrowLeft ArrowLeft")
    expect(room.page.get_by_text("old: B has written 0").locator("visible=true")).to_be_visible()
    room.press("ArrowRight ArrowRight")


def scheduler(room: Room) -> None:
    room.click("Be the scheduler")
    room.page.wait_for_url("**/naive/scheduler*")
    room.play("A B B B A A")
    expect(room.page.locator(".news .finding")).to_be_visible()
    room.go_to("Explorer")
    room.click("Be the scheduler: watch")
    room.page.wait_for_url("**/watch/scheduler*")
    room.play("A A B B A B")
    expect(room.page.locator("#news")).to_contain_text("nil")


def difference(room: Room) -> None:
    room.go_to("Read")
    room.click("Side by side")
    expect(room.page.locator("table.diff").last).to_contain_text("pipe.watch")


def costs(room: Room) -> None:
    room.turn_to(room.desk.pages[1])
    expect(room.page.locator("#finding")).not_to_be_empty()


def the_class_buys(room: Room) -> None:
    room.go_to("Classroom")
    stage = room.page.locator("#stage")
    with room.waiting():
        room.sale("Start the countdown")
    expect(stage).to_have_attribute("data-verdict", "oversold")
    with room.waiting():
        ending = re.compile("do not exist|yours exists|does not exist")
        expect(room.eve.locator("#said")).to_have_text(ending, timeout=SLOW)
    with room.desk.expect_page():
        room.click("The audit in full", aside=True)
    with room.waiting():
        room.sale("The same again with watch")
    expect(stage).to_have_attribute("data-verdict", "exact")


def the_last_sentence(room: Room) -> None:
    room.turn_to(room.desk.pages[-1])
    expect(room.page.locator("#audit")).to_have_attribute("data-verdict", "oversold", timeout=SLOW)


def multi(room: Room) -> None:
    room.turn_to(room.lab)
    room.clicks = 0  # this part begins on the lecture's tab
    room.go_to("Transactions")
    for case in ("An error inside EXEC", "WATCH notices, it does not prevent"):
        room.click(case)
        room.page.wait_for_url("**/transactions/*")
        expect(room.page.get_by_role("heading", name=case)).to_be_visible()
        last = int(room.page.locator("#player").get_attribute("data-last") or 0)
        room.press(" ".join(["ArrowRight"] * last))
        expect(room.page.locator(".so").locator("visible=true")).to_have_count(2)


def failover(room: Room) -> None:
    room.page.goto(f"{room.shop.lab}/explorer/watch/scheduler?moves=AABB")
    room.click("Start over")
    room.press("A A A")
    room.click("Failover")
    room.press("B B B")
    expect(room.page.locator(".news .finding")).to_be_visible()


def shelf(room: Room) -> Page:
    return room.desk.pages[2]


# By the titles in docs/lecture.md, in its order.
SCENES: dict[str, Callable[[Room], None]] = {
    "One apple too many": one_apple_too_many,
    "Stampede": stampede,
    "Why, step by step": why,
    "Be the scheduler": scheduler,
    "Read the difference": difference,
    "What safety costs": costs,
    "The class buys": the_class_buys,
    "The last sentence": the_last_sentence,
    "MULTI on the projector": multi,
    "A failover": failover,
}
