"""The README's example prints what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest


def test_the_example_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    [example] = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    exec(example, {})  # noqa: S102  our own
    first, second, drawn = capsys.readouterr().out.splitlines()
    assert f"# {first}\n" in example
    assert f"# {second}\n" in example
    assert drawn.startswith("<svg")
