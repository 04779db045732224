"""Where a Chromium is, for the tests in a browser and for the pictures."""

from __future__ import annotations

import shutil
from pathlib import Path

from playwright.sync_api import Browser, Playwright

NO_CHROMIUM = (
    "no Chromium for the browser tests: apt install chromium, or "
    ".venv/bin/playwright install chromium"
)
# Quiet: a browser under test looks up no host of its maker's.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]


def chromium(playwright: Playwright) -> Browser | None:
    """The system's own, or Playwright's; None without either."""
    own = playwright.chromium.executable_path
    program = shutil.which("chromium") or (own if Path(own).exists() else None)
    if program is None:
        return None
    return playwright.chromium.launch(executable_path=program, args=FLAGS)
