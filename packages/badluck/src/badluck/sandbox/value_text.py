"""What stands in a key, as a person reads it beside a step."""

from __future__ import annotations

from badluck.actor.command_text import decoded
from badluck.model.values import Hash, SortedSet, Stream, Value


def value_text(value: Value | None) -> str:
    """`[a, b]` of a list, `{a, b}` of a set, `{a: 1}` and the like; of a stream how long it is."""
    match value:
        case None:
            return ""
        case bytes():
            return decoded(value)
        case Stream():
            return str(len(value.entries))
        case Hash():
            pairs = (f"{decoded(field)}: {decoded(content)}" for field, content in value.pairs)
            return f"{{{', '.join(pairs)}}}"
        case SortedSet():
            ranked = sorted((score, member) for member, score in value.scores)
            scored = (f"{decoded(member)}: {score:g}" for score, member in ranked)
            return f"{{{', '.join(scored)}}}"
        case frozenset():
            return f"{{{', '.join(map(decoded, sorted(value)))}}}"
    return f"[{', '.join(map(decoded, value))}]"
