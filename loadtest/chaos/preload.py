"""The small library that notes what a server has synced, made where there is a C compiler."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parent / "synced.c"


def possible() -> bool:
    """Can we know how much of a log is on the disk?"""
    return sys.platform == "linux" and shutil.which("cc") is not None


def make(folder: Path) -> Path | None:
    """The library in `folder`; None where it cannot be made."""
    if not possible():
        return None
    library = folder / "synced.so"
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE)]
    done = subprocess.run(command, capture_output=True, check=False)
    return None if done.returncode else library
