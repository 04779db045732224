"""redis-py's own tests of its Lock, run against ours: only the import is changed.

They come with its source archive, not with its wheel: pip fetches the archive from the user's index
and compares it with the hash in requirements/dev.txt. Nothing of it is kept.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.support.servers import StoreServer

PINS = Path("requirements/dev.txt")
NEEDED = ("__init__.py", "conftest.py", "ssl_utils.py", "test_lock.py")
THEIRS, OURS = "from redis.lock import Lock\n", "from fairlock import Lock\n"
# These two replace the clock of the module redis.lock and compare the pauses that redis-py's Lock
# makes between two polls. Ours asks once and is then called: it makes no pause.
POLLING = ("test_blocking_timeout", "test_context_manager_blocking_timeout")
PASSED = 30  # all the others


def archive(folder: Path) -> Path:
    """Return redis-py's source archive. CI needs it; elsewhere its tests are skipped."""
    pin = re.search(rf"^redis=={version('redis')} (\\\n +--hash=\S+ ?)+", PINS.read_text(), re.M)
    assert pin, f"{PINS} has no hashes of the redis-py that is installed"
    (folder / "pin.txt").write_text(pin.group())
    pip = [sys.executable, "-m", "pip", "--no-input", "--timeout", "5", "--retries", "1"]
    what = ["--no-deps", "--no-binary", "redis", "-r", "pin.txt"]
    try:
        ran = subprocess.run(
            [*pip, "download", "--quiet", *what], cwd=folder, capture_output=True, timeout=60
        )
        said = ran.stderr.decode()
    except subprocess.TimeoutExpired:
        said = "no answer within 60 s"
    assert "DO NOT MATCH THE HASHES" not in said, said
    fetched = next(folder.glob("redis-*.tar.gz"), None)
    assert fetched or not os.environ.get("CI"), f"CI needs redis-py's own tests: {said}"
    if fetched is None:
        why = said.strip().rpartition("\n")[2]
        pytest.skip(f"redis-py's source cannot be fetched from the package index: {why}")
    return fetched


@pytest.fixture
def their_tests(tmp_path: Path) -> Path:
    """Return a folder with redis-py's tests of the lock and their imports; their Lock is ours."""
    top = f"redis-{version('redis')}/tests"
    (tmp_path / "tests").mkdir()
    (tmp_path / "pytest.ini").write_text("[pytest]\n")  # neither our settings nor redis-py's
    with tarfile.open(archive(tmp_path)) as source:
        for name in NEEDED:
            member = source.extractfile(f"{top}/{name}")
            assert member
            (tmp_path / "tests" / name).write_bytes(member.read())
    module = tmp_path / "tests/test_lock.py"
    text = module.read_text()
    assert text.count(THEIRS) == 1
    module.write_text(text.replace(THEIRS, OURS))
    return tmp_path


def test_redis_pys_own_tests_pass(their_tests: Path, valkey: StoreServer) -> None:
    servers = ["--redis-url", valkey.url, "--redis-mod-url", valkey.url]
    left_out = [f"--deselect=tests/test_lock.py::TestLock::{name}" for name in POLLING]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "tests/test_lock.py", *servers, *left_out],
        cwd=their_tests,
        env={name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    tail = ran.stdout + ran.stderr
    assert re.search(rf"^{PASSED} passed, {len(POLLING)} deselected", ran.stdout, re.M), tail
    assert ran.returncode == 0, tail
