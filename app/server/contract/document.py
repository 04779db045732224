"""The contract as a document: an application's routes, each with its row of the table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from flask import Flask
from werkzeug.routing import Rule

from app.domain import Invalid
from app.server.contract import fields
from app.server.contract.answers import responses
from app.server.contract.components import Components, parameter
from app.server.contract.parts import Answer, Body, Field, Kind, Operation
from app.server.contract.problems import KINDS, Told
from app.server.parse import FORMS, JSON
from app.text import Text

IMPLIED = {"HEAD", "OPTIONS"}  # answered by the framework wherever there is a GET, or anything


@dataclass(frozen=True, kw_only=True)
class Side:
    """Shop or lab. `everywhere`: problems of each operation; `of_bodies`: of those that read one;
    `headers`: of each answer."""

    title: Text
    says: Text
    groups: Mapping[str, Text]  # blueprint -> heading
    operations: Mapping[str, Operation]  # endpoint -> row
    kinds: Mapping[str, Told] = field(default_factory=lambda: KINDS)  # of problems
    everywhere: tuple[Kind, ...] = (400,)
    of_bodies: tuple[Kind, ...] = (400, 411, 413, 415, Invalid)
    headers: tuple[str, ...] = fields.EVERY
    of_gets: Mapping[int, Answer] = field(default_factory=dict)  # more that any GET may answer


def document(app: Flask, side: Side, version: str) -> dict[str, Any]:
    """Raises KeyError for a route that has no row."""
    components = Components(side.kinds)
    paths: dict[str, Any] = {}
    for rule in app.url_map.iter_rules():
        for method in sorted((rule.methods or set()) - IMPLIED):
            row = described(rule, method, side.operations[rule.endpoint], side, components)
            paths.setdefault(template(rule), {})[method.lower()] = row
    return {
        "openapi": "3.1.0",
        "info": {"title": side.title, "description": side.says, "version": version},
        "tags": [{"name": name, "description": says} for name, says in side.groups.items()],
        "paths": paths,
        "components": components.all(),
    }


def template(rule: Rule) -> str:
    """`/orders/<uuid:id>` as OpenAPI writes it."""
    return re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)


def described(
    rule: Rule, method: str, row: Operation, side: Side, components: Components
) -> dict[str, Any]:
    said: dict[str, Any] = {
        "operationId": rule.endpoint,
        "tags": [rule.endpoint.partition(".")[0]],
        "summary": row.name,
    }
    if row.says:
        said["description"] = row.says
    query = dict(row.query)
    if any(answer.html for answer in row.answers.values()):
        query["language"] = fields.LANGUAGE
    if parameters := [
        *(components.parameter("header", name) for name in row.headers),
        *(_parameter("path", name, _part(row, name)) for name in sorted(rule.arguments)),
        *(_parameter("query", name, each) for name, each in query.items()),
    ]:
        said["parameters"] = parameters
    problems = [*side.everywhere, *row.problems]
    if method == "POST":
        problems.append(403)
    if rule.arguments:
        problems.append(404)
    if row.body:
        said["requestBody"] = _body(row.body)
        problems += side.of_bodies
    answers = {**(side.of_gets if method == "GET" else {}), **row.answers}
    said["responses"] = responses(answers, dict.fromkeys(problems), side.headers, components)
    return said


def _part(row: Operation, name: str) -> Field:
    return row.path.get(name) or fields.PATH[name]


def _parameter(where: str, name: str, each: Field) -> dict[str, Any]:
    return {"name": name, "in": where, **parameter(each)}


def _body(body: Body) -> dict[str, Any]:
    said: dict[str, Any] = {}
    for kind in (JSON, *FORMS):
        members = body.fields
        required = [
            name
            for name, each in members.items()
            if each.required or (kind != JSON and name in body.required_in_forms)
        ]
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {
                name: {**each.schema, "description": each.says} for name, each in members.items()
            },
        }
        if required:
            schema["required"] = required
        if body.closed:
            schema["additionalProperties"] = False
        example = {n: each.example for n, each in members.items() if each.example is not None}
        said[kind] = {"schema": schema, "example": example}
    return {"required": True, "content": said}
