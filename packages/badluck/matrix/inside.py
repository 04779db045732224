"""What actors do, and what is to be true of what they answer. No module of ours imports more."""

from typing import Any

FOUND_OUT = "its lease was over"


def alone(redis: Any, name: str) -> bool:
    """Two steps in a critical section: was nobody else there meanwhile?"""
    redis.set("inside", name)
    return bool(redis.get("inside") == name.encode())


def one_at_a_time(_: Any, told: dict[str, Any]) -> bool:
    """Whoever has been inside was alone."""
    return False not in told.values()


def at_most_one(_: Any, told: dict[str, Any]) -> bool:
    """One was let through, or none."""
    return list(told.values()).count(True) <= 1


def once(_: Any, told: dict[str, Any]) -> bool:
    """The only job went to one, or to none."""
    return list(told.values()).count("job") <= 1
