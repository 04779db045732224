"""What a row of the contract is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.domain import ShopError
from app.text import Text

Schema = Mapping[str, Any]  # JSON Schema 2020-12
Kind = type[ShopError] | str | int  # a problem: an error, a name of problems.KINDS, a bare status


@dataclass(frozen=True, kw_only=True)
class Field:
    """One member of a body, or one parameter of a path, a query or a head."""

    says: Text
    schema: Schema
    example: Any = None
    required: bool = False


@dataclass(frozen=True, kw_only=True)
class Body:
    """Members of a form or of a JSON object. `closed`: another member is refused.

    `required_in_forms` is what a program may leave out, but no form of ours does.
    """

    fields: Mapping[str, Field]
    closed: bool = False
    required_in_forms: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Link:
    """A further operation that an answer's member leads to."""

    to: str  # an endpoint
    says: Text
    takes: Mapping[str, str]  # its parameter -> a runtime expression


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One that is no problem. `json` is a type, or a tuple of them; `html`: it may be a page;
    `other` are further media types."""

    says: Text
    json: Any = None
    html: bool = False
    other: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()  # names of headers.ANSWERS
    example: Any = None
    links: Mapping[str, Link] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Operation:
    """What one endpoint takes and answers. Path parameters that `path` does not name are known by
    their converter, or by their name (fields.PATH)."""

    name: Text
    says: Text | None = None
    answers: Mapping[int, Answer]
    problems: tuple[Kind, ...] = ()
    path: Mapping[str, Field] = field(default_factory=dict)
    query: Mapping[str, Field] = field(default_factory=dict)
    headers: tuple[str, ...] = ()  # names of headers.REQUESTS
    body: Body | None = None
