"""An operation of the contract: the decorator that describes a view, and its parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, TypeVar

from app.domain import Bound, ShopError
from app.text import Text

Schema = Mapping[str, Any]  # JSON Schema 2020-12
Kind = type[ShopError] | str | int  # a problem: an error, a name of problems.KINDS, a bare status
View = TypeVar("View", bound=Callable[..., Any])


@dataclass(frozen=True)
class Field:
    """A member of a body, a parameter of a path or a query, or a header.

    `required_in_forms`: a program may leave it out, but every form of ours sends it.
    """

    says: Text
    schema: Schema
    example: Any = None
    required: bool = False
    required_in_forms: bool = False


def number(says: Text, bound: Bound, example: int | None = None, required: bool = False) -> Field:
    schema = {"type": "integer", "minimum": bound.low, "maximum": bound.high}
    return Field(says, schema, example, required)


def string(
    says: Text, example: str | None = None, among: Any = (), required: bool = False
) -> Field:
    """Return a string field; `among` are all values that it can have."""
    return Field(
        says, {"type": "string", **({"enum": [*among]} if among else {})}, example, required
    )


@dataclass(frozen=True)
class Link:
    """An operation that an answer leads to. `takes`: its parameter -> a runtime expression."""

    to: str  # an endpoint
    takes: Mapping[str, str]


def leads(to: str, **takes: str) -> Link:
    """Link to an operation by members of the answer: its parameter -> the path of the member."""
    return Link(to, {name: f"$response.body#/{member}" for name, member in takes.items()})


@dataclass(frozen=True)
class Answer:
    """An answer of a `json` type (a tuple: one of several), with more words than its status has."""

    json: Any
    says: Text
    example: Any = None
    headers: tuple[str, ...] = ()
    links: Mapping[str, Link] | None = None  # None: those of its operation


@dataclass(frozen=True)
class Operation:
    """Decorate a view with all that it accepts and answers; the view stays the same function.

    `answers`: status -> a type of JSON, or an Answer. The document knows a parameter of the path by
    its name (fields.PATH), unless `path` describes it.
    """

    name: Text
    says: Text | None = None
    answers: Mapping[int, Any] = field(default_factory=dict)
    _: KW_ONLY
    page: bool = False  # 200 may be a page, too
    other: tuple[str, ...] = ()  # further media types of a 200 or 206
    headers: tuple[str, ...] = ()  # of each answer that has a body or a Location (fields.ANSWERS)
    links: Mapping[str, Link] = field(default_factory=dict)
    problems: tuple[Kind, ...] = ()
    asks: tuple[str, ...] = ()  # request headers (fields.REQUESTS)
    path: Mapping[str, Field] = field(default_factory=dict)
    query: Mapping[str, Field] = field(default_factory=dict)
    body: Mapping[str, Field] | None = None
    closed: bool = False  # a further member of the body is refused

    def __call__(self, view: View) -> View:
        view.__dict__["operation"] = self
        return view
