"""The scripts that run inside the store, one file each, headed KEYS / ARGV / returns."""

from functools import cache
from importlib.resources import files


@cache
def source(name: str) -> str:
    """Text of `name`.lua."""
    return (files(__name__) / f"{name}.lua").read_text(encoding="utf-8")
