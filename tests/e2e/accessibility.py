"""Barriers that keep a person out of a page."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page


def barriers(page: Page) -> list[tuple[str, str]]:
    """Return all that axe finds, however small: (rule, where)."""
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [(each["id"], node["html"]) for each in found for node in each["nodes"]]
