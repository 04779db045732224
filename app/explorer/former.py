"""Files that `lastapple explore` wrote before its keys were the engine's, read as they are today.

Then it said `buyers`, `buyer` and `strand`, and of the stock how much was `left`.
"""

from __future__ import annotations

from typing import Any

KEYS = {"buyers": "actors", "buyer": "actor", "strand": "fiber"}
COLUMNS = {"left": "stock", "lock": "lock", "sold": "sold"}


def in_todays_keys(document: Any) -> Any:
    """Of any JSON; what is none of those files stays as it is."""
    if isinstance(document, dict) and "buyers" in document:
        _rename(document)
        for finding in _objects(document.get("findings")):
            for step in _objects(finding.get("trace")):
                _rename(step)
                step["shown"] = {COLUMNS[old]: step.pop(old) for old in COLUMNS if old in step}
    return document


def _rename(members: dict[str, Any]) -> None:
    for old in KEYS.keys() & members.keys():
        members[KEYS[old]] = members.pop(old)


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
