"""The README's first result is what comes of its own files."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from autopipe_servers import Server

README = Path(__file__).parents[1] / "README.md"


def test_the_first_result(server: Server, tmp_path: Path) -> None:
    [code] = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert "autopipe.Redis()" in code
    (tmp_path / "first.py").write_text(code.replace("Redis()", f"Redis(port={server.port})"))
    done = subprocess.run(
        [sys.executable, "first.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.stderr == ""
    said = re.fullmatch(r"640 words in (\d+) packets\n", done.stdout)
    assert said
    assert int(said[1]) < 500
