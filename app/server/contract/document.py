"""The contract as an OpenAPI 3.1 document: the routes of an application, and their operations."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from flask import Flask
from werkzeug.routing import Rule

from app.domain import Invalid
from app.server.answers import kind as called
from app.server.answers import type_of
from app.server.contract import fields
from app.server.contract.operation import Answer, Field, Kind, Operation
from app.server.contract.problems import BARE, KINDS, NotSoldProblem, OverLimitProblem, ProblemType
from app.server.parse import FORMS, JSON
from app.text import Text, together

IMPLIED = {"HEAD", "OPTIONS"}  # answered by the framework wherever there is a GET, or anything
PROBLEM = "application/problem+json"
REFERENCE = "#/components/schemas/{name}"
PAGE = {"schema": {"type": "string"}}
STREAM = "text/event-stream"
# The schema of each event: readers of the document use it so, and so does the next OpenAPI.
EVENT = {
    "schema": {
        "type": "object",
        "properties": {name: {"type": "string"} for name in ("event", "id", "data")},
        "required": ["event", "data"],
    }
}
# The words for an answer that its operation does not describe.
SAYS = {
    200: Text("Done."),
    201: Text("Created."),
    202: Text("In progress: ask again."),
    204: Text("There is nothing more to come: do not ask again."),
    206: Text("The requested part."),
    303: Text("A form: to the page that shows it."),
    304: Text("Not changed."),
}


@dataclass(frozen=True, kw_only=True)
class ApiSide:
    """Shop or lab.

    `everywhere`: problems of each operation; `of_bodies`: of those that read a body. `headers` are
    those of each answer.
    """

    title: Text
    says: Text
    groups: Mapping[str, Text]  # blueprint -> heading
    kinds: Mapping[str, ProblemType] = field(default_factory=lambda: KINDS)  # of problems
    everywhere: tuple[Kind, ...] = (400,)
    of_bodies: tuple[Kind, ...] = (400, 411, 413, 415, Invalid)
    headers: tuple[str, ...] = fields.EVERY
    of_gets: Mapping[int, Answer] = field(default_factory=dict)  # more that any GET may answer


def operations(app: Flask) -> dict[str, Operation]:
    """Return the operation of each endpoint. Raises KeyError for a view without one."""
    rules = app.url_map.iter_rules()
    return {
        each.endpoint: app.view_functions[each.endpoint].__dict__["operation"] for each in rules
    }


def document(app: Flask, side: ApiSide, version: str) -> dict[str, Any]:
    return _Document(operations(app), side).of(app.url_map.iter_rules(), version)


class _Document:
    """The document while its operations are described: gathers the parts that it refers to."""

    def __init__(self, operations: Mapping[str, Operation], side: ApiSide) -> None:
        self.operations = operations
        self.side = side
        self.slots: list[tuple[Any, dict[str, Any]]] = []  # a type, and its place in the document
        self.problems: dict[str, ProblemType] = {}
        self.headers: dict[str, Any] = {}
        self.parameters: dict[str, Any] = {}

    def of(self, rules: Iterable[Rule], version: str) -> dict[str, Any]:
        paths: dict[str, Any] = {}
        for rule in rules:
            for method in sorted((rule.methods or set()) - IMPLIED):
                # `/orders/<uuid:id>` as OpenAPI writes it
                path = paths.setdefault(re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule), {})
                path[method.lower()] = self.operation(rule, method)
        groups = self.side.groups.items()
        return {
            "openapi": "3.1.0",
            "info": {"title": self.side.title, "description": self.side.says, "version": version},
            "tags": [{"name": name, "description": says} for name, says in groups],
            "paths": paths,
            "components": self.components(),
        }

    def operation(self, rule: Rule, method: str) -> dict[str, Any]:
        row, side = self.operations[rule.endpoint], self.side
        operation: dict[str, Any] = {
            "operationId": rule.endpoint,
            "tags": [rule.endpoint.partition(".")[0]],
            "summary": row.name,
        }
        if row.says:
            operation["description"] = row.says
        path = {name: row.path.get(name) or fields.PATH[name] for name in sorted(rule.arguments)}
        query = {**row.query, **({"language": fields.LANGUAGE} if row.page else {})}
        if parameters := [
            *map(self.asked, row.asks),
            *({"name": name, "in": "path", **_parameter(each)} for name, each in path.items()),
            *({"name": name, "in": "query", **_parameter(each)} for name, each in query.items()),
        ]:
            operation["parameters"] = parameters
        problems = [*side.everywhere, *row.problems, *([403] if method == "POST" else [])]
        if rule.arguments:
            problems.append(404)
        if row.body is not None:
            operation["requestBody"] = _body(row.body, row.closed)
            problems += side.of_bodies
        answers = {**(side.of_gets if method == "GET" else {}), **row.answers}
        if row.page:
            answers.setdefault(200, Answer(None, Text("A page.")))
        if method == "GET" and 200 in answers and not isinstance(answers[200], Answer):
            answers[200] = Answer(answers[200], row.name)
        responses = {status: self.answer(row, status, answer) for status, answer in answers.items()}
        by_status: dict[int, list[Kind]] = defaultdict(list)
        for kind in dict.fromkeys(problems):
            by_status[self.told(kind)[1].status].append(kind)
        for status, kinds in by_status.items():
            refused = self.refusal(status, kinds)
            if known := responses.get(status):  # the same status with an answer of its own
                refused["content"] = known["content"] | refused["content"]
                refused["description"] = together(known["description"], refused["description"])
            responses[status] = refused
        operation["responses"] = {str(status): responses[status] for status in sorted(responses)}
        return operation

    def asked(self, name: str) -> dict[str, Any]:
        """Return a reference to one of the request headers."""
        self.parameters[name] = {"name": name, "in": "header", **_parameter(fields.REQUESTS[name])}
        return {"$ref": f"#/components/parameters/{name}"}

    def answer(self, row: Operation, status: int, given: Any) -> dict[str, Any]:
        answer = given if isinstance(given, Answer) else Answer(given, SAYS[status])
        content: dict[str, Any] = {}
        if answer.json is not None:
            content[JSON] = {"schema": self.type(answer.json)}
            if answer.example is not None:
                content[JSON]["example"] = answer.example
        page = row.page and status == 200
        if page:
            content["text/html"] = PAGE
        if status in (200, 206):
            content |= {kind: EVENT if kind == STREAM else PAGE for kind in row.other}
        more = {303: ("Location",), 503: ("Retry-After",)}.get(status, ())
        own = row.headers if content or (status == 303 and status in row.answers) else ()
        names = (*more, *own, *answer.headers, *(fields.PAGES if page else ()))
        response = {"description": answer.says, "headers": self.named(names)}
        if content:
            response["content"] = content
        links = row.links if answer.links is None else answer.links
        if links and status < 300:
            response["links"] = {
                name: {
                    "operationId": link.to,
                    "description": self.operations[link.to].name,
                    "parameters": link.takes,
                }
                for name, link in links.items()
                if self.operations[link.to] is not row or status == 202
            }
        return response

    def refusal(self, status: int, kinds: list[Kind]) -> dict[str, Any]:
        problems = dict(map(self.told, kinds))
        self.problems |= problems
        schemas = [{"$ref": REFERENCE.format(name=f"problem.{name}")} for name in problems]
        titles = list(dict.fromkeys(each.title for each in problems.values()))
        return {
            "description": Text("%(titles)s", titles=titles),
            "headers": self.named(
                (*fields.PAGES, *(("Retry-After",) if status in (429, 503) else ()))
            ),
            "content": {
                PROBLEM: {"schema": schemas[0] if len(schemas) == 1 else {"oneOf": schemas}},
                "text/html": PAGE,
            },
        }

    def named(self, names: Iterable[str]) -> dict[str, Any]:
        """Return the headers of an answer, with those that every answer has."""
        names = dict.fromkeys((*self.side.headers, *names))
        self.headers |= {name: _parameter(fields.ANSWERS[name]) for name in names}
        return {name: {"$ref": f"#/components/headers/{name}"} for name in names}

    def type(self, kind: Any) -> dict[str, Any]:
        """Return the type's schema, filled in when all are known; of a tuple, any one of them."""
        if isinstance(kind, tuple):
            return {"anyOf": [self.type(each) for each in kind]}
        self.slots.append((kind, {}))
        return self.slots[-1][1]

    def told(self, kind: Kind) -> tuple[str, ProblemType]:
        """Return a problem's name in the contract, and its description."""
        if isinstance(kind, int):
            return str(kind), BARE[kind]
        name = kind if isinstance(kind, str) else called(kind)
        return name, self.side.kinds[name]

    def components(self) -> dict[str, Any]:
        """Return the components, made by msgspec from the annotations of our own types.

        No value goes through msgspec. It is loaded when the contract is asked for, in no other
        process.
        """
        import msgspec

        members = list(dict.fromkeys(known.members for known in self.problems.values()))
        schemas, types = msgspec.json.schema_components(
            [*(kind for kind, _ in self.slots), *members], schema_hook=_text, ref_template=REFERENCE
        )
        for (_, slot), schema in zip(self.slots, schemas, strict=False):
            slot.update(schema)
        problems = {
            f"problem.{name}": _problem(name, known, types[known.members.__name__])
            for name, known in sorted(self.problems.items())
        }
        return {
            "schemas": types | problems,
            "headers": self.headers,
            "parameters": self.parameters,
        }


def _text(kind: type) -> dict[str, Any]:
    """Return the schema of a Text, which is in the visitor's language in JSON."""
    if issubclass(kind, str):
        return {"type": "string"}
    raise NotImplementedError(kind)


def _parameter(each: Field) -> dict[str, Any]:
    """Return all of a parameter except its name and its place."""
    parameter: dict[str, Any] = {"description": each.says, "schema": each.schema}
    if each.required:
        parameter["required"] = True
    return parameter if each.example is None else parameter | {"example": each.example}


def _body(members: Mapping[str, Field], closed: bool) -> dict[str, Any]:
    content: dict[str, Any] = {}
    properties = {name: {**each.schema, "description": each.says} for name, each in members.items()}
    example = {name: each.example for name, each in members.items() if each.example is not None}
    for kind in (JSON, *FORMS):
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        if required := [
            name
            for name, each in members.items()
            if each.required or (kind != JSON and each.required_in_forms)
        ]:
            schema["required"] = required
        if closed:
            schema["additionalProperties"] = False
        content[kind] = {"schema": schema, "example": example}
    return {"required": True, "content": content}


def _problem(name: str, known: ProblemType, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a problem's members, with those that are always the same."""
    known_by = "about:blank" if name.isdigit() else type_of(name)
    fixed = {"type": {"const": known_by}, "status": {"const": known.status}}
    if known.members in (NotSoldProblem, OverLimitProblem):
        fixed["outcome"] = {"const": name.upper().replace("-", "_")}
    return schema | {
        "title": known.title,
        "description": known.says,
        "properties": schema["properties"] | fixed,
    }
