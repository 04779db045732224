"""Steps that actors share, and checks of their answers. No module of ours imports more."""

from typing import Any

FOUND_OUT = "its lease was over"


def alone(redis: Any, name: str) -> bool:
    """Two steps in a critical section: was nobody else there meanwhile?"""
    redis.set("inside", name)
    return bool(redis.get("inside") == name.encode())


def one_at_a_time(_: Any, answers: dict[str, Any]) -> bool:
    """Each actor that has been inside was alone."""
    return False not in answers.values()


def at_most_one(_: Any, answers: dict[str, Any]) -> bool:
    """One was let through, or none."""
    return list(answers.values()).count(True) <= 1


def once(_: Any, answers: dict[str, Any]) -> bool:
    """The only job went to one, or to none."""
    return list(answers.values()).count("job") <= 1
