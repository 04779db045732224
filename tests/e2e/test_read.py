"""Reading in a real browser, by keyboard and by form (how it looks: test_look.py)."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.support.shop import Shop


def test_from_the_lab_to_a_line_by_keyboard(page: Page, shop: Shop) -> None:
    page.goto(f"{shop.lab}/read")
    page.get_by_role("link", name="read_before_watch").press("Enter")
    page.wait_for_url("**/read/read_before_watch")
    expect(page.get_by_text("broken on purpose").first).to_be_visible()
    code = page.get_by_role("group", name="app/modes/read_before_watch.py")
    skip = page.get_by_role("link", name="Skip the code").first
    skip.focus()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Tab")
    expect(code).to_be_focused()
    # Where a line does not fit, its box scrolls by the arrow keys.
    if code.evaluate("box => box.scrollWidth > box.clientWidth"):
        page.keyboard.press("ArrowRight")
        page.wait_for_function(
            "box => box.scrollLeft > 0", arg=code.element_handle(), timeout=5_000
        )
    code.get_by_role("link", name="12", exact=True).press("Enter")
    page.wait_for_url("**#L12")
    expect(page.locator("#L12")).to_be_in_viewport()


def test_a_pair_from_the_form(page: Page, shop: Shop) -> None:
    page.goto(f"{shop.lab}/read/watch")
    page.get_by_label("Right").select_option("naive")
    page.get_by_role("button", name="Side by side").click()
    page.wait_for_url("**/read/watch...naive")
    page.get_by_text("What comes before").click()
    left, right = page.locator("del", has_text="pipe").first, page.locator("ins").first
    expect(left).to_be_visible()
    expect(right).to_be_visible()
    row = page.locator("tr.changed", has=page.locator("del", has_text="pipe")).first
    before, after = (row.locator(side).bounding_box() for side in ("td.left", "td.right"))
    assert before
    assert after
    phone = (page.viewport_size or {"width": 0})["width"] < 768
    if phone:  # one below the other
        assert after["y"] >= before["y"] + before["height"]
        assert after["x"] == before["x"]
    else:
        assert after["y"] == before["y"]
        assert after["x"] >= before["x"] + before["width"]
