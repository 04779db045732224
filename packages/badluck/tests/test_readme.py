"""The README's first result is what comes of its own files."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_first_result(tmp_path: Path) -> None:
    code, look = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    shown = README.read_text().partition("`python look.py`:\n\n```\n")[2].partition("```")[0]
    (tmp_path / "buy.py").write_text(code)
    (tmp_path / "look.py").write_text(look)
    done = subprocess.run(
        [sys.executable, "look.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.stderr == ""
    assert done.stdout == shown
