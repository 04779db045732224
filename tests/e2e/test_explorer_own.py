"""A user's own file in the lab's explorer, in a browser: watched, scheduled, corrected."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.test_explorer import DESKTOP, opened
from tests.integration.test_explorer_own import NAIVE, SOUND
from tests.support.shop import Shop


@pytest.fixture
def own(tmp_path: Path) -> Iterator[tuple[Shop, Path]]:
    file = tmp_path / "my_sell.py"
    file.write_text(NAIVE)
    shop = Shop(tmp_path, LAB_SELL=str(file))
    shop.start()
    yield shop, file
    shop.close()


@DESKTOP
def test_it_is_watched_scheduled_and_corrected(page: Page, own: tuple[Shop, Path]) -> None:
    shop, file = own
    page.goto(f"{shop.lab}/explorer")
    page.get_by_role("link", name="What goes wrong: my_sell.py").click()
    expect(page.get_by_role("heading", name="my_sell.py: oversell")).to_be_visible(timeout=30_000)
    page.get_by_role("link", name="One step on").click()
    lit = page.locator('.line.now[data-on~="A"]').all_text_contents()
    assert [text.strip() for text in lit] == ['redis.set("stock", left - 1)']
    page.get_by_role("link", name="Be the scheduler").first.click()
    for name in "ABABAB":
        moved = len(re.findall("moves=(\\w*)", page.url)[-1]) + 1 if "moves=" in page.url else 1
        page.locator(f"#move-{name}").click()
        expect(page).to_have_url(re.compile(rf"moves=\w{{{moved}}}$"))
    expect(page.locator("#news")).to_contain_text("oversell")
    file.write_text(SOUND)
    opened(page, f"{shop.lab}/explorer/own?crash=0&pause=0")
    expect(page.get_by_text("Nothing goes wrong in any order of the steps.")).to_be_visible()
