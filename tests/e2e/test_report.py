"""compare.html in a browser: no barriers, nothing that leaves the page, in light and in dark."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, expect

from loadtest.report import page as report
from tests.e2e.accessibility import barriers
from tests.support.servers import until
from tests.unit.loadtest.real_comparison import comparison
from tests.unit.loadtest.test_comparison_report import FINISHED


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_is_read_on_any_screen_and_without_one(
    browser: Browser, tmp_path: Path, scheme: Literal["light", "dark"]
) -> None:
    real = comparison()
    file = tmp_path / "compare.html"
    file.write_text(report(real.machine, real.options, real.rows, real.yardsticks, FINISHED))
    with browser.new_context(color_scheme=scheme) as context:
        page = context.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(file.as_uri())
        assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
        goodput = page.get_by_role("table", name="In sales per second")
        expect(goodput.get_by_role("row", name="goodput, sales/s").first).to_be_visible()
        for width in (1440, 768, 360):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert width == 768 or barriers(page) == []
        table = page.get_by_role("group", name="Every repeat")
        table.focus()

        def moves() -> bool:
            """Press once more: a key is lost if it comes before the page is redrawn."""
            page.keyboard.press("ArrowRight")
            return bool(page.evaluate("document.activeElement.scrollLeft > 0"))

        until(moves)
