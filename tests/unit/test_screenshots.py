"""The pictures of README and docs are those that `make screenshots` takes, and small enough."""

from __future__ import annotations

import re
import struct

import pytest

from tests.screenshots import FOLDER, PICTURES

TOP = FOLDER.parents[1]
LARGEST = 300 * 1024  # bytes
PNG = b"\x89PNG\r\n\x1a\n"


def test_what_is_shown_is_taken_and_what_is_taken_is_shown() -> None:
    shown = {
        (page.parent / picture).resolve()
        for page in (TOP / "README.md", *(TOP / "docs").glob("*.md"))
        for picture in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.read_text())
    }
    assert shown == {FOLDER / f"{name}.png" for name in PICTURES} == set(FOLDER.iterdir())


@pytest.mark.parametrize("name", PICTURES)
def test_picture(name: str) -> None:
    png = (FOLDER / f"{name}.png").read_bytes()
    assert png.startswith(PNG)
    assert struct.unpack(">II", png[16:24]) == PICTURES[name].size, "run make screenshots"
    assert len(png) < LARGEST
