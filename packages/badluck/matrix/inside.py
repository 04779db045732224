"""Steps that actors share, and checks of their answers. Entries import nothing else of ours."""

from typing import Any

FOUND_OUT = "its lease was over"


def alone(redis: Any, name: str) -> bool:
    """Take two steps in a critical section. Return whether no other actor was in it meanwhile."""
    redis.set("inside", name)
    return bool(redis.get("inside") == name.encode())


def one_at_a_time(_: Any, answers: dict[str, Any]) -> bool:
    """Check that each actor that has been inside was alone."""
    return False not in answers.values()


def at_most_one(_: Any, answers: dict[str, Any]) -> bool:
    """Check that at most one actor was let through."""
    return list(answers.values()).count(True) <= 1


def once(_: Any, answers: dict[str, Any]) -> bool:
    """Check that the only job went to at most one actor."""
    return list(answers.values()).count("job") <= 1
