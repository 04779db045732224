"""The document as its page shows it: each reference is replaced by the thing it refers to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from app.server.contract.document import ApiSide
from app.server.contract.fields import EVERY, PAGES
from app.server.contract.operation import Schema
from app.server.contract.problems import ProblemType
from app.server.parse import JSON
from app.text import Text

USUAL = {*EVERY, *PAGES}  # headers that go without saying


class Taken(NamedTuple):
    """A parameter, or a member of a body."""

    name: str
    where: str  # header, path, query, body
    kind: str
    says: Text
    required: bool


class Given(NamedTuple):
    """One status. `types` of JSON are links into the page where their name begins with `#`."""

    status: str
    says: Text
    types: list[tuple[str, str]]  # media type, schema
    problems: list[str]
    headers: list[str]


class OperationRow(NamedTuple):
    """One operation."""

    id: str
    method: str
    path: str
    name: Text
    says: Text | None
    takes: list[Taken]
    gives: list[Given]
    example: Any  # of a body


def rows(document: Mapping[str, Any], group: str) -> Iterator[OperationRow]:
    components = document["components"]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if operation["tags"] == [group]:
                yield OperationRow(
                    operation["operationId"],
                    method.upper(),
                    path,
                    operation["summary"],
                    operation.get("description"),
                    list(_taken(operation, components)),
                    [_given(status, each) for status, each in operation["responses"].items()],
                    _body(operation).get("example"),
                )


def _body(said: Mapping[str, Any]) -> Mapping[str, Any]:
    body: Mapping[str, Any] = said.get("requestBody", {}).get("content", {}).get(JSON, {})
    return body


def _taken(said: Mapping[str, Any], components: Mapping[str, Any]) -> Iterator[Taken]:
    for each in said.get("parameters", ()):
        known = components["parameters"][_last(each["$ref"])] if "$ref" in each else each
        yield Taken(
            known["name"],
            known["in"],
            in_short(known["schema"]),
            known["description"],
            known.get("required", False),
        )
    schema = _body(said).get("schema", {"properties": {}})
    for name, each in schema["properties"].items():
        required = name in schema.get("required", ())
        yield Taken(name, "body", in_short(each), each["description"], required)


def _given(status: str, said: Mapping[str, Any]) -> Given:
    types: list[tuple[str, str]] = []
    problems: list[str] = []
    for kind, content in said.get("content", {}).items():
        schema = content["schema"]
        names = [_last(each["$ref"]) for each in schema.get("oneOf", [schema]) if "$ref" in each]
        refusals = [name.removeprefix("problem.") for name in names if name.startswith("problem.")]
        problems += [name for name in refusals if not name.isdigit()]
        types.append((kind, "" if refusals or kind != JSON else in_short(schema)))
    headers = [name for name in said["headers"] if name not in USUAL]
    return Given(status, said["description"], types, problems, headers)


def _last(reference: str) -> str:
    return reference.rpartition("/")[2]


def in_short(schema: Schema) -> str:
    """Return a schema in a few signs: `integer 1…10`, `[Check]`, `en | zh`."""
    if "$ref" in schema:
        return _last(schema["$ref"]).rpartition(".")[2]
    if "enum" in schema or "const" in schema:
        return " | ".join(map(str, schema.get("enum", [schema.get("const")])))
    if "anyOf" in schema:
        return " | ".join(map(in_short, schema["anyOf"]))
    kind = str(schema.get("type", "any"))
    if kind == "array":
        return f"[{in_short(schema['items'])}]"
    if "minimum" in schema:
        return f"{kind} {schema['minimum']}…{schema.get('maximum', '')}"
    if "maxLength" in schema:
        return f"{kind} …{schema['maxLength']}"
    return str(schema.get("format", kind))


class Type(NamedTuple):
    """One of our types, by the name that an answer gives it."""

    name: str
    says: str
    members: list[tuple[str, str]]  # name, kind


def types(document: Mapping[str, Any]) -> Iterator[Type]:
    """Yield the types that have members, without the problems'."""
    for name, schema in document["components"]["schemas"].items():
        if "properties" in schema and not name.startswith("problem."):
            members = [(member, in_short(each)) for member, each in schema["properties"].items()]
            yield Type(name.rpartition(".")[2], schema.get("description", ""), members)


def problems(document: Mapping[str, Any], side: ApiSide) -> Iterator[tuple[str, ProblemType]]:
    """Yield the problems with a type of their own that an operation here answers with."""
    schemas = document["components"]["schemas"]
    yield from (each for each in side.kinds.items() if f"problem.{each[0]}" in schemas)
