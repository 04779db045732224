"""gunicorn's hooks for the shop's workers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.command_line import full_environ

LEFT_TO_LOAD = """
import sys
from app import create_shop
from app.shop import worker
worker.on_starting(None)
loaded = set(sys.modules)
create_shop()
print(*(name for name in sorted(set(sys.modules) - loaded) if name.startswith("app")))
"""


def test_a_worker_has_nothing_of_ours_left_to_load(tmp_path: Path) -> None:
    """Otherwise each worker would load it again, and one that died would be away for longer."""
    loads = subprocess.run(
        [sys.executable, "-c", LEFT_TO_LOAD],
        env=full_environ({"VAR_DIR": str(tmp_path)}),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert loads.stdout == "\n"
