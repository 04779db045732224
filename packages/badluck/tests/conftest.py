"""Signals as usual, and searches that end by what they find and never by the clock."""

from __future__ import annotations

import signal

import pytest
from badluck import explore
from badluck.functions import search_process
from badluck.sandbox import client, limits, worker
from servers import valkey

# Tests and the processes that they start get Ctrl-C, even if a background shell had ignored it.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

PATIENCE = 120  # s; ten times what the longest search takes on a slow machine with other work


@pytest.fixture(autouse=True)
def _slow_machines_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each search time enough; a test of the limit itself passes its own `seconds`."""
    monkeypatch.setitem(explore.__kwdefaults__, "seconds", PATIENCE)
    for module in (client, worker, search_process):
        monkeypatch.setattr(module, "SEARCH_S", PATIENCE)
    monkeypatch.setattr(client, "DEADLINE_S", PATIENCE + limits.SHOWING_S)


@pytest.fixture(scope="session")
def server_program() -> str:
    """Find the program of a server; imported by a module of actors, each actor would import it."""
    return valkey.server_program()
