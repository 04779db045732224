"""Times are in the visitor's zone, which only the browser knows; without scripts in UTC."""

from __future__ import annotations

import re
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
import requests
from playwright.sync_api import Browser, expect

from tests.support.shop import Shop

ZONE = "Asia/Kathmandu"  # at quarter to: a shift by whole hours alone fails
ZH = {"Accept-Language": "zh-CN,zh;q=0.9"}


@pytest.fixture(scope="module")
def places(shop: Shop) -> dict[str, str]:
    """Return addresses of pages that show a time."""
    number = shop.round("atomic", 3, "cherry")["round"]
    sold = shop.buy(requests.Session(), item="cherry").json()["order"]
    return {"round": f"{shop.lab}/rounds/cherry/{number}", "order": f"{shop.url}/orders/{sold}"}


@pytest.mark.parametrize("place", ["round", "order"])
@pytest.mark.parametrize("headers", [{}, ZH], ids=["en", "zh"])
def test_a_visitor_reads_the_time_of_their_own_clock(
    browser: Browser, places: dict[str, str], place: str, headers: dict[str, str]
) -> None:
    with browser.new_context(timezone_id=ZONE, extra_http_headers=headers) as context:
        page = context.new_page()
        page.goto(places[place])
        time = page.locator("time").first
        at = datetime.fromisoformat(time.get_attribute("datetime") or "").astimezone(ZoneInfo(ZONE))
        expect(time).to_have_text(re.compile(r"\(GMT\+5:45\)$"))
        expect(time).to_have_text(re.compile(rf"\b0?({at.hour}|{at.hour % 12 or 12}):{at:%M:%S}\b"))


def test_without_scripts_it_is_utc_and_says_so(browser: Browser, places: dict[str, str]) -> None:
    with browser.new_context(timezone_id=ZONE, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(places["round"])
        expect(page.locator("time").first).to_have_text(re.compile(r":\d\d\s?[AP]M \(UTC\)$"))
        page.goto(places["round"] + "?language=zh")
        written = re.compile(r"^\d{4}年\d+月\d+日 \d\d:\d\d:\d\d \(UTC\)$")
        expect(page.locator("time").first).to_have_text(written)
