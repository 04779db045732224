"""Variants of one thing, by name: some are loaded only when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

Kind = TypeVar("Kind", bound=type[Any])  # each has a `name`


class Variants(Mapping[str, Kind]):
    """Variants in teaching order. One with slow-loading libraries is represented by its name."""

    def __init__(self, order: Iterable[Kind | str], load: Callable[[], Iterable[Kind]]) -> None:
        """`load` returns the variants of which `order` has only the names."""
        self._load = load
        self._known: dict[str, Kind | None] = {}
        for cls in order:
            name, kind = (cls, None) if isinstance(cls, str) else (cls.name, cls)
            self._known[name] = kind

    def __getitem__(self, name: str) -> Kind:
        known = self._known[name]
        if known is None:
            loaded = {kind.name: kind for kind in self._load()}
            self._known.update(loaded)
            known = loaded[name]
        return known

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)
