"""Schedules in files next to the tests that they break: small, and independent of their finder."""

from __future__ import annotations

import json
import os
import re
import zlib
from pathlib import Path
from typing import NamedTuple, NoReturn

import pytest

from badluck.errors import BadluckError
from badluck.report.checked_json import CheckedJson, Unreadable
from badluck.report.report import Finding
from badluck.report.saved_traces import read_traces
from badluck.report.trace import Step
from badluck.target import ACTORS

FOLDER = "badluck-schedules"
VERSION = 1  # of the saved files
MAX_CALLS = 1 << 20  # calls of explore in a test
MAX_NAME_LENGTH = 80  # characters of a test's name in a file's
INSTEAD = "Delete it, and the search finds what there is; or take it back from version control."


class CallId(NamedTuple):
    """Identity of an explore call: the test's file, the test, and the number of the call."""

    file: Path
    test: str  # `test_bank.py::TestBank::test_sum[2]`: wherever pytest is started
    call: int  # from 1

    @property
    def own(self) -> str:
        """The test's name after its file: `::TestBank::test_sum[2]`."""
        return self.test.removeprefix(self.file.name)

    @property
    def path(self) -> Path:
        """Return its schedule's file; a checksum is added for an id that no file name can hold."""
        own = self.own.removeprefix("::").replace("::", ".")
        plain = re.sub(r"[^A-Za-z0-9_.]+", "-", own)[:MAX_NAME_LENGTH].strip("-")
        if plain != own:
            plain += f"-{zlib.crc32(own.encode()):08x}"
        which = f".{self.call}" if self.call > 1 else ""
        return self.file.parent / FOLDER / f"{self.file.stem}.{plain}{which}.json"


def call_id(item: pytest.Item, call: int) -> CallId:
    own = item.nodeid.partition("::")[2]
    return CallId(item.path, f"{item.path.name}::{own}", call)


def write(name: CallId, functions: str, actors: int, finding: Finding) -> None:
    """Save a finding's schedule. Raises OSError."""
    steps = [json.dumps(step.document(), sort_keys=True) for step in finding.trace]
    document = {
        "badluck": VERSION,
        "test": name.test,
        "call": name.call,
        "functions": functions,
        "actors": actors,
        "again": False,
        "findings": [{"name": finding.name, "trace": []}],
    }
    text = json.dumps(document, indent=1, sort_keys=True)
    if steps:  # a line each
        lines = ",\n    ".join(steps)
        text = text.replace('"trace": []', f'"trace": [\n    {lines}\n   ]')
    name.path.parent.mkdir(exist_ok=True)
    replace(name.path, f"{text}\n")


def replace(path: Path, text: str) -> None:
    """Replace the file atomically, so that a reader sees all or nothing of it. Raises OSError."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


class SavedSchedule(NamedTuple):
    """The contents of a saved file."""

    test: str
    call: int
    actors: int
    steps: list[Step]


def read(path: Path, shown: str) -> SavedSchedule:
    """Read a saved schedule. `shown` is the file's name in error messages.

    Raises BadluckError for a file that is damaged, or of another version.
    """
    try:
        document = CheckedJson(json.loads(path.read_bytes()), "")
        document.one_of("badluck", (VERSION,))
        # Any finding's name is valid, since the test's rules may have changed.
        findings = [part.text("name") for part in document.parts("findings", "finding")]
        names, traces, _ = read_traces(document, findings, {}, (1, ACTORS[1]))
        if len(traces) != 1:
            document.refuse(f"{len(traces)} schedules where one belongs")
        [steps] = traces.values()
        call = document.number("call", 1, MAX_CALLS)
        return SavedSchedule(document.text("test"), call, len(names), steps)
    except FileNotFoundError as error:
        raise BadluckError(f"{shown}: {error.strerror}.") from None
    except OSError as error:
        why = f"{error.strerror}."
    except Unreadable as error:
        why = f"no schedule that this version of badluck has saved: {error}"
    except (ValueError, RecursionError):
        why = "no JSON."
    raise BadluckError(f"{shown}: {why} {INSTEAD}")


def refuse_other_call(schedule: SavedSchedule, shown: str, name: CallId) -> NoReturn:
    """Raises BadluckError: the schedule is of another call than `name`."""
    call = f"call {schedule.call} of explore in {schedule.test}"
    raise BadluckError(f"{shown} is of {call}, and not of {name.test}. {INSTEAD}")
