"""Requests that schemathesis makes from the contract, and answers that the contract forbids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import schemathesis
from flask import Flask
from schemathesis import engine
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import events
from schemathesis.schemas import BaseSchema

SLOWEST = 60.0  # s for one answer: what takes longer hangs, also on a slow and busy machine


@dataclass
class Asked:
    """The results of one run."""

    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)  # by operation
    led: int = 0  # requests that followed an answer's link
    wrong: dict[str, str] = field(default_factory=dict)  # the error -> the request
    made: list[tuple[str, Any]] = field(default_factory=list)  # `POST /rounds`, its 201 or 303

    @property
    def requests(self) -> int:
        return self.statuses.total()

    def count(self, operation: str, status: int) -> int:
        return self.statuses[operation, status]

    def answers(self) -> dict[int, int]:
        """Return how often each status came."""
        found: Counter[int] = Counter()
        for (_, status), count in self.statuses.items():
            found[status] += count
        return dict(sorted(found.items()))

    def answered(self) -> set[str]:
        """Return the operations that were called, at least once, for something that exists."""
        return {operation for operation, status in self.statuses if status < 400}


def config(seed: int, examples: int, **more: Any) -> SchemathesisConfig:
    """Return a configuration; `examples` are requests for each operation, besides the contract's
    own.
    """
    generation = {"max-examples": examples, "database": "none", "no-shrink": True}
    checks = {
        "enabled": True,
        # The only documented one of them; another check knows which operations have it.
        "not_a_server_error": {"expected-statuses": ["2xx", "3xx", "4xx", "503"]},
        "max_response_time": SLOWEST,
        **{name: {"enabled": False} for name in LENIENT},
    }
    return SchemathesisConfig.from_dict(
        {
            **{"seed": seed, "generation": generation, "checks": checks},
            **{"continue-on-failure": True, "request-timeout": SLOWEST, "max-stream-events": 2},
            **more,
        }
    )


# We accept more than we promise: digits for a number, any printable key.
LENIENT = ("negative_data_rejection", "positive_data_acceptance", "ignored_auth")


def ask(
    where: Flask | str,
    seed: int,
    examples: int,
    leave_out: tuple[str, ...] = (),
    reader: Mapping[str, str] = MappingProxyType({}),
    before: Asked | None = None,
    **more: Any,
) -> Asked:
    """Send requests to an application, or to the server at an address.

    `leave_out`: operations; `reader`: headers with which the contract is read; `before`: the
    results of earlier runs, to be added to; `more` is schemathesis's own configuration.
    """
    chosen = config(seed, examples, **more)
    schema: BaseSchema
    if isinstance(where, str):
        schema = schemathesis.openapi.from_url(
            f"{where}/openapi.json", config=chosen, headers=dict(reader)
        )
    else:
        schema = schemathesis.openapi.from_wsgi(
            "/openapi.json", where, config=chosen, headers=dict(reader)
        )
    for name in leave_out:
        schema = schema.exclude(operation_id=name)
    found = before or Asked()
    for event in engine.from_schema(schema).execute():
        if isinstance(event, events.ScenarioFinished):
            note(event.recorder, found)
        elif isinstance(event, events.NonFatalError):
            found.wrong[f"{event.label}: {event.value!r}"] = ""
        elif isinstance(event, events.FatalError):
            raise event.exception
    return found


def note(recorder: Any, found: Asked) -> None:
    for id, interaction in recorder.interactions.items():
        if interaction.response is None:
            found.wrong[f"{recorder.label}: no answer"] = str(interaction.request)
            continue
        status, method = interaction.response.status_code, interaction.request.method
        operation = recorder.cases[id].value.operation.label
        if not operation.startswith(f"{method} "):
            operation += f", by {method}"
        found.statuses[operation, status] += 1
        said = interaction.response.content or b""
        if status == 503 and b"#in-doubt" in said:  # an unexpected error
            found.wrong[f"{operation}: in doubt"] = str(interaction.request)
        found.led += recorder.cases[id].transition is not None
        if status in (201, 303):  # all answers of a long run would fill the memory
            path = urlsplit(interaction.request.uri).path
            found.made.append((f"{method} {path}", interaction.response))
        for check in recorder.checks.get(id, ()):
            if check.failure_info is not None:
                failure = check.failure_info.failure
                said = f"{operation}: {failure.title}: {failure.message}"
                found.wrong.setdefault(said, check.failure_info.code_sample)
