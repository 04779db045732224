"""What a process has for itself: an actor has it, too, or is told that it has not."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

import pytest
from badluck import BadCode, explore


def _environ(redis: Any) -> None:
    os.environ["SEEN"] = str(redis.get("n"))


def _forgets(_: Any) -> None:
    del os.environ["PATH"]


def _folder(_: Any) -> None:
    os.chdir("/usr")


@pytest.mark.parametrize("actor", [_environ, _forgets, _folder])
def test_what_a_process_has_for_itself_is_not_changed(actor: Any) -> None:
    name = actor.__name__
    with pytest.raises(BadCode, match=rf"test_own_process\.py, line \d+, in {name}: changes the "):
        explore(actors=[actor])


def test_an_environment_that_stays_as_it_is_or_is_a_librarys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "site-packages"
    installed.mkdir()
    (installed / "sets_it.py").write_text("import os\nos.environ['ITS_OWN'] = '1'")
    monkeypatch.syspath_prepend(installed)
    monkeypatch.setenv("SAME", "1")

    def work(_: object) -> str:
        os.environ["SAME"] = "1"
        os.environ.pop("LACKING", None)
        importlib.import_module("sets_it")
        return os.environ["ITS_OWN"]

    explore(actors=[work]).assert_holds()
