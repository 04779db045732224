"""The answers of one operation, by status."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from app.server.contract.components import Components
from app.server.contract.fields import PAGES
from app.server.contract.parts import Answer, Kind
from app.server.parse import JSON
from app.text import Text, together

PROBLEM = "application/problem+json"
PAGE = {"schema": {"type": "string"}}
STREAM = "text/event-stream"
# Of each event: that is how readers of the document have it, and how the next OpenAPI does.
EVENT = {
    "schema": {
        "type": "object",
        "properties": {name: {"type": "string"} for name in ("event", "id", "data")},
        "required": ["event", "data"],
    }
}


def responses(
    answers: Mapping[int, Answer],
    problems: Iterable[Kind],
    headers: tuple[str, ...],
    components: Components,
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for status, answer in answers.items():
        found[str(status)] = _answer(answer, headers, components)
    by_status: dict[int, list[Kind]] = defaultdict(list)
    for kind in problems:
        by_status[components.told(kind)[1].status].append(kind)
    for status, kinds in by_status.items():
        said = _problems(status, kinds, headers, components)
        if known := found.get(str(status)):  # the same status with an answer of its own
            said["content"] = known["content"] | said["content"]
            said["description"] = together(known["description"], said["description"])
        found[str(status)] = said
    return dict(sorted(found.items()))


def _answer(answer: Answer, headers: tuple[str, ...], components: Components) -> dict[str, Any]:
    content: dict[str, Any] = {}
    if answer.json is not None:
        content[JSON] = {"schema": components.type(answer.json)}
        if answer.example is not None:
            content[JSON]["example"] = answer.example
    if answer.html:
        content["text/html"] = PAGE
    content |= {kind: EVENT if kind == STREAM else PAGE for kind in answer.other}
    names = (*headers, *answer.headers, *(PAGES if answer.html else ()))
    said: dict[str, Any] = {
        "description": answer.says,
        "headers": {name: components.header(name) for name in names},
    }
    if content:
        said["content"] = content
    if answer.links:
        said["links"] = {
            name: {"operationId": link.to, "description": link.says, "parameters": link.takes}
            for name, link in answer.links.items()
        }
    return said


def _problems(
    status: int, kinds: list[Kind], headers: tuple[str, ...], components: Components
) -> dict[str, Any]:
    titles = list(dict.fromkeys(components.told(kind)[1].title for kind in kinds))
    schemas = [components.problem(kind) for kind in kinds]
    names = (*headers, *PAGES, *(("Retry-After",) if status in (429, 503) else ()))
    return {
        "description": Text("%(titles)s", titles=titles),
        "headers": {name: components.header(name) for name in names},
        "content": {
            PROBLEM: {"schema": schemas[0] if len(schemas) == 1 else {"oneOf": schemas}},
            "text/html": PAGE,
        },
    }
