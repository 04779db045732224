"""What a document says once and refers to often: headers, problems, types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.server.answers import kind as called
from app.server.answers import type_of
from app.server.contract import fields, schemas
from app.server.contract.parts import Field, Kind
from app.server.contract.problems import BARE, NotSoldProblem, OverLimitProblem, Told


class Components:
    """Gathers them while the operations are described."""

    def __init__(self, kinds: Mapping[str, Told]) -> None:
        self.kinds = kinds
        self.types: list[Any] = []
        self.slots: list[dict[str, Any]] = []  # of each type: its place in the document
        self.problems: dict[str, Told] = {}
        self.headers: dict[str, Any] = {}
        self.parameters: dict[str, Any] = {}

    def type(self, kind: Any) -> dict[str, Any]:
        """Its schema, filled in when all are known; of several types that of any of them."""
        if isinstance(kind, tuple):
            return {"anyOf": [self.type(each) for each in kind]}
        self.types.append(kind)
        self.slots.append({})
        return self.slots[-1]

    def header(self, name: str) -> dict[str, Any]:
        self.headers[name] = parameter(fields.ANSWERS[name])
        return {"$ref": f"#/components/headers/{name}"}

    def parameter(self, where: str, name: str) -> dict[str, Any]:
        """One of the request headers."""
        self.parameters[name] = {"name": name, "in": where, **parameter(fields.REQUESTS[name])}
        return {"$ref": f"#/components/parameters/{name}"}

    def problem(self, kind: Kind) -> dict[str, Any]:
        name, known = self.told(kind)
        self.problems[name] = known
        return {"$ref": schemas.REFERENCE.format(name=f"problem.{name}")}

    def told(self, kind: Kind) -> tuple[str, Told]:
        """A problem's name in the contract, and what is told of it."""
        if isinstance(kind, int):
            return str(kind), BARE[kind]
        name = kind if isinstance(kind, str) else called(kind)
        return name, self.kinds[name]

    def all(self) -> dict[str, Any]:
        members = list(dict.fromkeys(known.members for known in self.problems.values()))
        found, types = schemas.of([*self.types, *members])
        for slot, schema in zip(self.slots, found, strict=False):
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


def parameter(each: Field) -> dict[str, Any]:
    """All of it but where it stands."""
    said: dict[str, Any] = {"description": each.says, "schema": each.schema}
    if each.required:
        said["required"] = True
    return said if each.example is None else said | {"example": each.example}


def _problem(name: str, known: Told, schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of its members, with those that are always the same."""
    known_by = "about:blank" if name.isdigit() else type_of(name)
    fixed = {"type": {"const": known_by}, "status": {"const": known.status}}
    if known.members in (NotSoldProblem, OverLimitProblem):
        fixed["outcome"] = {"const": name.upper().replace("-", "_")}
    return schema | {
        "title": known.title,
        "description": known.says,
        "properties": schema["properties"] | fixed,
    }
