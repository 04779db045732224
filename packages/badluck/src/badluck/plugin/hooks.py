"""Hooks for pytest, which loads this file in every run; the rest loads when a test uses it."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from badluck.plugin.fixture import Badluck

TOLD = "badluck"  # of a report: the test's notes as JSON, which xdist sends on
ASKED = pytest.StashKey["Badluck"]()
PASSED = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
HELP = {
    "--badluck-faults": "faults for tests that do not say any: crash=1,pause=1,lost=1",
    "--badluck-seconds": "how long a search may take in tests that do not say it",
    "--badluck-replay": "play this saved schedule on a real server, in the test that it is of",
    "--badluck-server": "the server for that (default: valkey-server or redis-server of PATH)",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("badluck", "every order in which redis-py code can run")
    group.addoption("--badluck-faults", metavar="FAULTS", help=HELP["--badluck-faults"])
    group.addoption("--badluck-seconds", metavar="N", type=int, help=HELP["--badluck-seconds"])
    group.addoption("--badluck-replay", metavar="FILE", type=Path, help=HELP["--badluck-replay"])
    group.addoption("--badluck-server", metavar="PROGRAM", help=HELP["--badluck-server"])


def pytest_configure(config: pytest.Config) -> None:
    if faults := config.getoption("--badluck-faults"):
        from badluck.errors import BadluckError
        from badluck.faults import Faults

        try:
            Faults.parse(faults)
        except BadluckError as error:
            raise pytest.UsageError(f"--badluck-faults: {error}") from None
    seconds = config.getoption("--badluck-seconds")
    if seconds is not None and seconds < 1:
        raise pytest.UsageError("--badluck-seconds: at least 1.")
    config.pluginmanager.register(Summary(config), "badluck-summary")


@pytest.fixture
def badluck(request: pytest.FixtureRequest) -> Badluck:
    """Explores every order in which redis-py code can run: `badluck.explore(actors=[…], …)`."""
    from badluck.plugin.fixture import Badluck

    made = Badluck(request.node)
    request.node.stash[ASKED] = made
    return made


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if explored := item.stash.get(ASKED, None):
        setattr(report, TOLD, explored.told()._asdict())
    return report


def _of(file: Path) -> str:
    """Return the file's name, and the name of its test if that can be read."""
    from badluck.errors import BadluckError
    from badluck.plugin.saved_schedule import read

    try:
        return f"{file} to play, which is of {read(file, '').test}"
    except BadluckError:
        return f"{file} to play"


class Summary:
    """Notes of a whole run, printed after it."""

    def __init__(self, config: pytest.Config) -> None:
        self.replays: Path | None = config.getoption("--badluck-replay")
        self.played = False
        self.notes: list[str] = []
        self.annotations: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        notes: dict[str, Any] | None = getattr(report, TOLD, None)
        if notes is None:
            return
        self.played |= notes["played"]
        self.notes += notes["notes"]
        if report.failed and notes["annotation"]:
            self.annotations.append(notes["annotation"])

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        here = not hasattr(session.config, "workerinput")  # and not one of xdist's workers
        if here and self.replays and not self.played and session.exitstatus in PASSED:
            self.notes.append(f"--badluck-replay: no test that was run has {_of(self.replays)}.")
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.notes:
            terminalreporter.section("badluck")
        for note in self.notes:
            terminalreporter.write_line(note)
        if os.environ.get("GITHUB_ACTIONS") == "true":
            for annotation in self.annotations:
                terminalreporter.write_line(annotation)
