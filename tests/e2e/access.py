"""What keeps somebody out of a page."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page


def serious(page: Page) -> list[tuple[str, str]]:
    """What axe calls serious or worse: (rule, where)."""
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    grave = [each for each in found if each["impact"] in ("serious", "critical")]
    return [(each["id"], node["html"]) for each in grave for node in each["nodes"]]
