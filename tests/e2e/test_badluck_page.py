"""The page of a schedule that badluck writes: played by keys, and read on any screen."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, cast

import pytest
from badluck.faults import Faults
from badluck.functions.explore import explore
from badluck.functions.function_target import FunctionTarget
from badluck.functions.search_process import follow
from badluck.report.page import page as written
from playwright.sync_api import Browser, Page, expect

from tests.e2e.accessibility import barriers

HOSTILE = "<b>\"'&$title</b>"


def count_up(redis):  # type: ignore[no-untyped-def]
    with redis.lock("lock", timeout=10):
        n = int(redis.get("n") or 0)
        redis.set("n", n + 1)
        redis.rpush("log", HOSTILE)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a schedule in which an actor is paused."""
    report = explore(
        actor=count_up, at_end=lambda redis: redis.get("n") == b"2", faults="pause=1"
    ).report
    assert report.faults == Faults(pause=1)
    [finding] = report.findings
    spots = follow(cast(FunctionTarget, report.target), finding.trace).spots
    file = tmp_path_factory.mktemp("page") / "schedule.html"
    test = f"test_n.py::test_n[{HOSTILE}]"
    file.write_text(written(report.target, 2, finding, test, "pytest test_n.py", spots))
    return file


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_read_on_any_screen_and_asks_for_nothing(
    browser: Browser, file: Path, scheme: Literal["light", "dark"]
) -> None:
    with browser.new_context(color_scheme=scheme) as context:
        page = context.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(file.as_uri())
        page.keyboard.press("ArrowRight")
        for width in (1280, 360):
            page.set_viewport_size({"width": width, "height": 740})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert barriers(page) == []
            expect(page.get_by_role("row", name=re.compile("^1 .*SET lock"))).to_be_visible()
        assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
        expect(page.locator("body")).to_contain_text(HOSTILE)
        assert page.locator("main b").count() == 1


def test_keys_step_through_it(page: Page, file: Path) -> None:
    page.goto(file.as_uri())
    now, said = page.locator("tr[aria-current=step]"), page.get_by_role("status")
    expect(now).to_have_count(0)
    expect(said).to_contain_text("The beginning")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(now).to_have_count(1)
    expect(now.get_by_role("rowheader")).to_have_text("2")
    expect(said).to_contain_text("A: GET n -> nil.")
    expect(said).to_contain_text(": n = int(redis.get(")
    page.keyboard.press("ArrowLeft")
    expect(now.get_by_role("rowheader")).to_have_text("1")
    page.keyboard.press("End")
    expect(said).to_contain_text("BROKEN AT THE END")
    expect(now).to_be_in_viewport()
    page.keyboard.press("Home")
    expect(now).to_have_count(0)
    page.keyboard.press(" ")
    button = page.get_by_role("button", name="Pause")
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(now).to_have_count(1)
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Play")).to_have_attribute("aria-pressed", "false")
    page.get_by_role("row", name="3 ALL PAUSE for").click()
    expect(page.get_by_text("Step 3 of")).to_be_visible()


def test_without_a_script_it_is_a_table(browser: Browser, file: Path) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(file.as_uri())
        expect(page.get_by_role("row", name="3 ALL PAUSE for")).to_be_visible()
        expect(page.get_by_role("button")).to_have_count(0)
