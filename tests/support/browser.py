"""The path of a Chromium, for the tests in a browser and for the pictures."""

from __future__ import annotations

import shutil
from pathlib import Path

from playwright.sync_api import Browser, Playwright

NO_CHROMIUM = (
    "no Chromium for the browser tests: apt install chromium-headless-shell, or "
    ".venv/bin/playwright install chromium"
)
# The first draws the same pages for less than half of the CPU time: it has no window.
PROGRAMS = ("chromium-headless-shell", "chromium")
# Quiet: a browser under test sends nothing to its maker's hosts.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]


def chromium(playwright: Playwright) -> Browser | None:
    """Return the system's own, or Playwright's; None without either."""
    own = playwright.chromium.executable_path
    found = [program for program in map(shutil.which, PROGRAMS) if program]
    program = found[0] if found else own if Path(own).exists() else None
    if program is None:
        return None
    return playwright.chromium.launch(executable_path=program, args=FLAGS)
