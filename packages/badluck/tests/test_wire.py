"""A client of a server that has not started yet leaves nothing open."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from badluck.real_server.wire import Wire


def test_nobody_listens(tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        with pytest.raises(FileNotFoundError):
            Wire(tmp_path / "nobody")
    assert [str(warning.message) for warning in heard] == []
