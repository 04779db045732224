"""The README's pictures are those that `make screenshots` takes, and small enough to look at."""

from __future__ import annotations

import re
import struct

import pytest

from tests.screenshots import FOLDER, PICTURES

README = (FOLDER.parents[1] / "README.md").read_text()
LARGEST = 300 * 1024  # bytes
PNG = b"\x89PNG\r\n\x1a\n"


def test_what_is_shown_is_taken_and_what_is_taken_is_shown() -> None:
    shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    taken = {f"docs/screenshots/{name}.png" for name in PICTURES}
    assert set(shown) == taken
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.png" for name in PICTURES}


@pytest.mark.parametrize("name", PICTURES)
def test_picture(name: str) -> None:
    png = (FOLDER / f"{name}.png").read_bytes()
    assert png.startswith(PNG)
    assert struct.unpack(">II", png[16:24]) == PICTURES[name].size, "run make screenshots"
    assert len(png) < LARGEST
