"""The explorer in a browser: a schedule step by step, and a game of making one."""

from __future__ import annotations

import re

import psutil
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.shop import Shop

PHONE = pytest.mark.parametrize("context", ["phone"], indirect=True)
DESKTOP = pytest.mark.parametrize("context", ["desktop"], indirect=True)
LEASE = "/explorer/lock:lease?finding=oversell"
NAIVE = "/explorer/naive/scheduler"


def opened(page: Page, address: str) -> None:
    """Open the page and wait for the search behind it; the page itself polls."""
    page.goto(address)
    expect(page.locator("[data-again]")).to_have_count(0, timeout=30_000)


def number(page: Page) -> str:
    return page.locator(".chart [aria-current]").get_attribute("data-step") or ""


def lit(page: Page, buyer: str) -> list[str]:
    texts = page.locator(f'.line.now[data-on~="{buyer}"]').all_text_contents()
    return [text.strip() for text in texts]


@DESKTOP
def test_a_link_opens_at_its_step_and_keeps_up(page: Page, shop: Shop) -> None:
    opened(page, f"{shop.lab}{LEASE}&step=4")
    expect(page.get_by_text("Step 4 of 7")).to_be_visible()
    assert number(page) == "4"
    assert lit(page, "A") == ["outcome, record = self.write("]
    page.get_by_role("link", name="One step on").click()
    expect(page).to_have_url(re.compile(r"finding=oversell&step=5$"))
    page.get_by_role("link", name="To the end").click()
    expect(page.get_by_role("status").get_by_text("some buyers will get nothing")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Step 7 of 7")).to_be_visible()
    page.locator(".chart").get_by_role("link", name="Step 2").click()
    expect(page).to_have_url(re.compile("step=2$"))
    expect(page.locator('dd[data-state="lock"]:visible')).to_have_text("token-A1")


@PHONE
def test_the_lit_line_is_in_sight(page: Page, shop: Shop) -> None:
    opened(page, f"{shop.lab}{LEASE}&step=0")
    for _ in range(7):
        page.get_by_role("link", name="One step on").click()
        assert page.locator(".line.now:visible").evaluate_all(
            """lines => lines.every((line) => {
              const [one, box] = [line, line.closest("pre")].map((e) => e.getBoundingClientRect());
              return one.top >= box.top - 1 && one.bottom <= box.bottom + 1;
            })"""
        )


@DESKTOP
def test_the_player_by_keyboard(page: Page, shop: Shop) -> None:
    opened(page, f"{shop.lab}{LEASE}&step=0")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert number(page) == "2"
    page.keyboard.press("ArrowLeft")
    assert number(page) == "1"
    page.keyboard.press("End")
    assert number(page) == "7"
    page.keyboard.press("Home")
    expect(page.get_by_text("Step 0 of 7")).to_be_visible()
    page.keyboard.press("Space")
    play = page.locator("#play")
    expect(play).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("Step 1 of 7")).to_be_visible()
    page.keyboard.press("Space")
    expect(play).to_have_attribute("aria-pressed", "false")
    slider = page.get_by_label("Step", exact=True)
    slider.focus()
    page.keyboard.press("End")
    assert number(page) == "7"
    page.keyboard.press("ArrowLeft")
    assert number(page) == "6"
    page.get_by_text("What is searched").click()
    buyers = page.get_by_label("Buyers")
    buyers.focus()
    page.keyboard.press("End")
    expect(buyers).to_have_value("3")
    assert number(page) == "6", "a list's own key is not ours"


@PHONE
def test_to_play_stops_at_the_end(page: Page, shop: Shop) -> None:
    opened(page, f"{shop.lab}/explorer/naive?step=5")
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_text("Step 6 of 6")).to_be_visible()
    expect(page.locator("#play")).to_have_attribute("aria-pressed", "false")


@PHONE
def test_he_makes_naive_oversell(page: Page, shop: Shop) -> None:
    opened(page, f"{shop.lab}{NAIVE}")
    for who in "ABABAB":
        page.get_by_role("link", name=f"{who} moves", exact=True).click()
        expect(page.locator(".chart li").last).to_contain_text(who)
    expect(page).to_have_url(re.compile("moves=ABABAB$"))
    expect(page.get_by_role("status")).to_contain_text("oversell")
    expect(page.locator(".compared")).to_contain_text(re.compile(r"Yours: .*steps: 6"))
    page.get_by_role("link", name="Undo").click()
    expect(page).to_have_url(re.compile("moves=ABABA$"))
    expect(page.get_by_role("status")).not_to_contain_text("oversell")
    page.go_back()
    expect(page.get_by_role("status")).to_contain_text("oversell")
    expect(page.locator(".chart li")).to_have_count(7)  # and the head


@DESKTOP
def test_the_scheduler_by_keyboard(page: Page, shop: Shop) -> None:
    """The focus stays on the button, so that the next press is the next move."""
    opened(page, f"{shop.lab}{NAIVE}")
    page.get_by_role("link", name="A moves", exact=True).focus()
    for moves in ("A", "AA", "AAA", "AAAA"):
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(f"moves={moves}$"))
    expect(page.locator('[data-buyer="A"]')).to_contain_text("gets: SOLD")
    assert page.evaluate("document.activeElement.id") in ("move-B", "undo"), (
        "A cannot move any more"
    )


@DESKTOP
def test_faults_are_pulled(page: Page, shop: Shop) -> None:
    opened(page, f"{shop.lab}/explorer/lock:lease/scheduler")
    for name in ("A moves", "A moves", "All buyers pause for 10.0 s", "B moves"):
        page.get_by_role("link", name=name, exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("two holders")
    page.get_by_role("link", name="B crashes").click()
    expect(page.locator('[data-buyer="B"]').get_by_text("crashed")).to_be_visible()
    page.get_by_role("link", name="A moves, reply lost").click()
    page.get_by_role("link", name="A moves", exact=True).click()
    expect(page.locator('[data-buyer="A"]')).to_contain_text("gets: ERROR")
    expect(page.locator(".chart .fault")).to_have_count(3)
    expect(page).to_have_url(re.compile(r"scheduler\?moves=AApBxBlAA$"))


@DESKTOP
def test_the_class_shouts_and_its_letters_are_pressed(page: Page, shop: Shop) -> None:
    """Faster than the lab answers, too; and Backspace is an undo."""
    opened(page, f"{shop.lab}{NAIVE}")
    for key in "abbb":
        page.keyboard.press(key)
    expect(page).to_have_url(re.compile("moves=ABBB$"))
    page.keyboard.press("Backspace")
    expect(page).to_have_url(re.compile("moves=ABB$"))
    page.keyboard.press("C")
    page.keyboard.press("Control+a")
    page.keyboard.press("B")
    page.keyboard.press("A")
    expect(page.get_by_role("status")).to_contain_text("A writes 0, as if B had not been there.")
    page.keyboard.press("A")
    expect(page).to_have_url(re.compile("moves=ABBBAA$"))
    expect(page.locator(".news .finding")).to_have_text("oversell")
    page.get_by_text("What is searched").click()
    page.get_by_label("Buyers").focus()
    page.keyboard.press("a")
    page.keyboard.press("Backspace")
    expect(page).to_have_url(re.compile("moves=ABBBAA$"))


@DESKTOP
def test_time_passes_by_a_key(page: Page, shop: Shop) -> None:
    opened(page, f"{shop.lab}/explorer/lock:lease/scheduler?moves=AxA")
    page.keyboard.press("t")
    expect(page.get_by_role("status")).to_contain_text("Meanwhile the lock runs out.")


@DESKTOP
def test_moves_are_what_one_sees_first(page: Page, shop: Shop) -> None:
    """They are in the apple's red, and nothing else is: neither undo nor a fault."""
    opened(page, f"{shop.lab}{NAIVE}?moves=AB")
    red = page.locator("#game .button:not(.quiet)")
    assert red.evaluate_all("links => links.map((link) => link.id)") == ["move-A", "move-B"]
    colour = "link => getComputedStyle(link).backgroundColor"
    assert red.first.evaluate(colour) != page.locator("#undo").evaluate(colour)


@DESKTOP
def test_a_click_while_the_lab_is_away_keeps_the_page(page: Page, shop: Shop) -> None:
    opened(page, f"{shop.lab}{NAIVE}?moves=A")
    page.context.set_offline(True)
    page.keyboard.press("B")
    expect(page.get_by_text("Your schedule is kept")).to_be_visible()
    page.keyboard.press("A")  # lost, and not a move for later
    expect(page.locator("#game")).to_contain_text("A reads the stock: 1.")
    page.context.set_offline(False)
    expect(page).to_have_url(re.compile("moves=AB$"))
    expect(page.get_by_text("Your schedule is kept")).to_be_hidden()
    page.get_by_role("link", name="A moves", exact=True).click()
    expect(page).to_have_url(re.compile("moves=ABA$"))


@DESKTOP
def test_what_each_buyer_remembers(page: Page, shop: Shop) -> None:
    opened(page, f"{shop.lab}/explorer/naive?step=0")
    memory = page.locator('[data-buyer="A"] .memory').filter(visible=True)
    expect(memory).to_have_text("–")
    page.keyboard.press("ArrowRight")
    expect(memory).to_contain_text(re.compile(r"stock = 1\s+read at step 1"))
    expect(memory).not_to_contain_text("old")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(memory).to_contain_text("old: B has written 0")
    other = page.locator('[data-buyer="B"] .memory').filter(visible=True)
    expect(other).not_to_contain_text("old")


@PHONE
def test_a_sound_mode_says_why(page: Page, shop: Shop) -> None:
    opened(page, f"{shop.lab}/explorer/watch")
    expect(page.get_by_text("Why it cannot go wrong")).to_be_visible()
    expect(page.get_by_text(re.compile("All [0-9,]+ orders were tried"))).to_be_visible()
    page.get_by_role("link", name="Be the scheduler").click()
    expect(page.locator("#verdict")).to_contain_text("Nothing goes wrong", timeout=20_000)


@PHONE
def test_an_impossible_link_says_so(page: Page, shop: Shop) -> None:
    answer = page.goto(f"{shop.lab}{NAIVE}?moves=At")
    assert answer
    assert answer.status == 400
    page.get_by_role("link", name="Start over").click()
    expect(page.get_by_role("link", name="A moves", exact=True)).to_be_visible()


@DESKTOP
def test_its_process_is_killed_while_he_looks(page: Page, shop: Shop) -> None:
    opened(page, f"{shop.lab}{NAIVE}")
    page.get_by_role("link", name="A moves", exact=True).click()
    expect(page).to_have_url(re.compile("moves=A$"))
    desks = [
        child
        for child in shop.child("lab").children(recursive=True)
        if "app.explorer.desk" in " ".join(child.cmdline())
    ]
    assert desks
    for desk in desks:
        desk.kill()
    psutil.wait_procs(desks, 5)
    # These two have not been requested before, so the answer does not come from the cache.
    page.get_by_role("link", name="B crashes").click()
    crashed = page.locator('[data-buyer="B"]').get_by_text("crashed")
    expect(crashed).to_be_visible(timeout=20_000)  # its process starts again
    opened(page, f"{shop.lab}/explorer/decr?lost=1")
    expect(page.locator("#player")).to_be_visible()


def test_without_javascript(browser: Browser, shop: Shop) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    opened(page, f"{shop.lab}{LEASE}&step=3")
    expect(page.locator(".chart li")).to_have_count(8)  # all steps, and the head
    expect(page.get_by_role("slider")).to_have_count(0)
    page.get_by_role("link", name="One step on").click()
    expect(page.get_by_text("Step 4 of 7")).to_be_visible()
    opened(page, f"{shop.lab}{NAIVE}")
    page.get_by_role("link", name="A moves", exact=True).click()
    expect(page).to_have_url(re.compile("moves=A$"))
    page.get_by_role("link", name="Undo").click()
    expect(page).to_have_url(re.compile("moves=$|scheduler$"))
    page.get_by_text("What is searched").click()
    page.get_by_label("Buyers").select_option("3")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("heading", name="Buyer C")).to_be_visible()
    context.close()
