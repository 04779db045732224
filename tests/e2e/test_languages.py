"""Shop and lab in Chinese, in a browser that asks for it; and the switch, without scripts too."""

from __future__ import annotations

import re

import pytest
import requests
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.e2e.test_lab import everybody_buys
from tests.e2e.test_shop import no_sideways_scroll
from tests.support.page_text import Page as Read
from tests.support.page_text import english
from tests.support.shop import Shop

ZH = {"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.8"}
PHONE = pytest.mark.parametrize("context", ["phone"], indirect=True)
PROJECTOR: ViewportSize = {"width": 1920, "height": 1080}
LAB = [
    "/",
    "/stampede",
    "/compare",
    "/history",
    "/classroom",
    "/explorer",
    "/explorer/lock:lease?finding=oversell&step=4",
    "/transactions",
    "/read",
    "/read/naive",
    "/read/watched_blind...watched",
    "/nowhere",
]


@pytest.fixture
def zh(page: Page) -> Page:
    page.set_extra_http_headers(ZH)
    return page


def looked_through(page: Page) -> None:
    """Check the page's current text, after its scripts have run."""
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
    texts = Read(page.content()).texts
    assert {text: words for text in texts if (words := english(text))} == {}
    no_sideways_scroll(page)


def test_buying_in_chinese(zh: Page, shop: Shop) -> None:
    shop.round("watch", 10)
    zh.goto(shop.url)
    apple = zh.locator("[data-slug=apple]")
    expect(apple.locator(".stock")).to_have_text("剩 10 件")
    looked_through(zh)
    requests.post(f"{shop.url}/buy/apple", json={"quantity": 8}, timeout=10)
    expect(apple.locator(".stock")).to_have_text("只剩 2 件")
    apple.get_by_label("苹果的数量").select_option("2")
    requests.post(f"{shop.url}/buy/apple", json={"quantity": 1}, timeout=10)
    apple.get_by_role("button", name="购买").click()
    expect(apple.get_by_role("status")).to_have_text(re.compile("只剩 1 件，少于您要的数量"))
    zh.reload()
    apple.get_by_role("button", name="购买").click()
    zh.wait_for_url("**/orders/*")
    expect(zh.get_by_text("苹果 × 1，€0.60")).to_be_visible()
    expect(zh.get_by_text("已记入账本。")).to_be_visible()
    looked_through(zh)


def test_the_verdict_in_chinese(zh: Page, shop: Shop) -> None:
    zh.goto(shop.lab)
    looked_through(zh)
    zh.get_by_label("库存", exact=True).fill("3")
    zh.get_by_label("思考时间", exact=True).fill("1000")
    zh.get_by_role("button", name="开始这一场").click()
    zh.wait_for_url("**/rounds/apple/*")
    everybody_buys(shop, 5)
    expect(zh.locator(".sentence")).to_have_text("库存 3 件，卖出 5 件。将有 2 人空欢喜一场。")
    looked_through(zh)


@PHONE
@pytest.mark.parametrize("address", LAB)
def test_the_lab_in_chinese(zh: Page, shop: Shop, address: str) -> None:
    zh.goto(shop.lab + address)
    expect(zh.get_by_text("还在查看")).to_have_count(0, timeout=30_000)
    looked_through(zh)
    zh.set_viewport_size(PROJECTOR)
    no_sideways_scroll(zh)


@PHONE
def test_a_schedule_in_chinese(zh: Page, shop: Shop) -> None:
    zh.goto(f"{shop.lab}/explorer/lock:lease/scheduler")
    for move in ("A 走一步", "A 走一步", "所有买家停顿 10.0 秒", "B 走一步"):
        zh.get_by_role("link", name=move, exact=True).click()
    expect(zh.get_by_role("status").get_by_text("两个买家同时进入了临界区。")).to_be_visible()
    expect(zh.locator("#looked-at")).to_contain_text("种顺序全都试过了。", timeout=30_000)
    looked_through(zh)


@PHONE
def test_a_stampede_in_chinese(zh: Page, shop: Shop) -> None:
    zh.goto(f"{shop.lab}/stampede")
    zh.get_by_label("库存", exact=True).fill("20")
    zh.get_by_label("买家数", exact=True).fill("8")
    zh.get_by_role("button", name="开始抢购").click()
    zh.wait_for_url("**/runs/*")
    sentence = zh.locator(".sentence")
    expect(sentence).to_have_text("正在抢购…", timeout=20_000)
    looked_through(zh)
    expect(sentence).to_have_text(
        re.compile(r"库存 20\s件，卖出 [\d,]+\s件。将有 [\d,]+\s人空欢喜一场。"), timeout=20_000
    )
    expect(zh.locator("#chart svg")).to_contain_text(re.compile(r"\d 秒(?!钟)"))
    looked_through(zh)


@PHONE
def test_a_class_in_chinese(zh: Page, shop: Shop) -> None:
    shop.round("atomic", 1)
    requests.post(f"{shop.lab}/rounds/apple/end", json={}, timeout=10)
    projector = zh.context.new_page()
    projector.set_extra_http_headers(ZH)
    projector.set_viewport_size(PROJECTOR)
    projector.goto(f"{shop.lab}/classroom?stock=1&think_ms=0&delay_ms=4000")
    zh.goto(f"{shop.url}/class")
    zh.get_by_label("昵称").fill("小明")
    zh.get_by_role("button", name="加入").click()
    zh.wait_for_url("**/class")
    expect(zh.get_by_role("status")).to_have_text("请停留在本页，等待开售。")
    looked_through(zh)
    projector.get_by_text("另开一场：自己选择怎么卖").click()
    projector.locator("#start").get_by_role("button", name="开始倒计时").click()
    expect(projector.locator("#names")).to_contain_text("小明", timeout=10_000)
    looked_through(projector)
    expect(zh.get_by_role("status")).to_have_text("开售了：快买！", timeout=20_000)
    zh.get_by_role("button", name="购买").click()
    expect(zh.get_by_role("status")).to_have_text("您抢到了一个，归您了。")
    looked_through(zh)
    sentence = "库存 1 件，卖出 1 件，剩 0 件：每一件都有着落。"
    expect(projector.locator("#stage .sentence")).to_have_text(sentence, timeout=30_000)
    looked_through(projector)


def test_the_switch_without_javascript(browser: Browser, shop: Shop) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{shop.lab}/?mode=watch&stock=7")
    page.get_by_role("link", name="简体中文").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
    expect(page.get_by_label("库存", exact=True)).to_have_value("7")
    current = page.get_by_role("navigation", name="语言").locator("[aria-current]")
    expect(current).to_have_text("简体中文")
    page.get_by_role("link", name="商店", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("六棵树，一个早晨的收成")
    page.get_by_role("link", name="English").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Six trees, one morning’s harvest")
    context.close()
