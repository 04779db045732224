"""JSON Schema (2020-12) of our own types, by msgspec.

It reads the annotations of dataclasses and TypedDicts, which stay what they are: no view is wrapped
and no value goes through it. It is loaded when the contract is asked for, in no other process.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

REFERENCE = "#/components/schemas/{name}"


def of(types: Iterable[Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """(a schema for each type, the components that they name)."""
    import msgspec

    schemas, components = msgspec.json.schema_components(
        types, schema_hook=_text, ref_template=REFERENCE
    )
    return list(schemas), components


def _text(kind: type) -> dict[str, Any]:
    """What stands in the answer for a type that msgspec does not know."""
    if issubclass(kind, str):  # a Text, which JSON gets in the visitor's language
        return {"type": "string"}
    raise NotImplementedError(kind)
