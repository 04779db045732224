"""Every figure of an audit has its words: none is counted without being shown."""

from __future__ import annotations

from dataclasses import fields

from app.service.verdict import COUNTED, SHOULD_BE_0, WHAT_IT_TOOK, Audit


def test_each_is_explained_once() -> None:
    numbers = {one.name for one in fields(Audit) if one.type == "int"} - {"round"}
    explained = [figure.field for figure in (*COUNTED, *SHOULD_BE_0, *WHAT_IT_TOOK)]
    assert sorted(explained) == sorted(numbers)
