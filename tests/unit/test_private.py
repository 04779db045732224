"""VAR_DIR is made private without touching files that are not the shop's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.ops.private import make_private


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def test_what_is_there_and_what_comes_is_private(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.mkdir(mode=0o755)
    (log / "shop.log.1").touch(0o644)
    (tmp_path / "orders.db-wal").touch(0o664)
    tmp_path.chmod(0o755)
    assert make_private(tmp_path) == []
    (tmp_path / "new").touch()
    assert mode(tmp_path) == mode(log) == 0o700
    assert mode(log / "shop.log.1") == mode(tmp_path / "orders.db-wal") == 0o600
    assert mode(tmp_path / "new") == 0o600


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    """VAR_DIR may be a folder that holds more, and a link may lead out of it."""
    theirs = tmp_path / "matrix" / "python"
    theirs.parent.mkdir()
    theirs.touch(0o755)
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "shop.log").symlink_to(theirs)
    assert make_private(tmp_path) == []
    assert mode(theirs) == 0o755


def test_a_folder_that_all_write_to_stays_open(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    (tmp_path / "secret").touch(0o644)
    make_private(tmp_path)
    assert mode(tmp_path) == 0o1777
    assert mode(tmp_path / "secret") == 0o600


def test_what_cannot_be_made_private_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").touch(0o644)
    tmp_path.chmod(0o700)

    def refused(_path: Path, _mode: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", refused)
    assert make_private(tmp_path) == [
        f"Other users may read {tmp_path}/secret: its mode cannot be changed (Operation not "
        "permitted). Give it to the user that runs the shop."
    ]
