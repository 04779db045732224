"""Backends on which the shop's schedules are replayed: the model, or servers started for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from badluck.backend import Backend
from badluck.real_server.backend import RealBackend, real_backend
from badluck.report import replay as engine
from badluck.report.replay import ReplayedStep
from badluck.report.trace import Step
from badluck.target import Target

from app.explorer.errors import in_the_shops_words
from app.store import embedded


@contextmanager
def servers(folder: Path, many: int, program: str | None = None) -> Iterator[RealBackend]:
    """Start `many` embedded Valkeys, or servers of another `program`, with their files in `folder`.

    Raises ShopError when one cannot be started, or fails in the middle.
    """
    with (
        in_the_shops_words(),
        real_backend(folder, many, program or str(embedded.binary())) as made,
    ):
        yield made


def replay(
    target: Target, names: Sequence[str], steps: Sequence[Step], where: Backend
) -> list[ReplayedStep]:
    """Replay all steps up to the first that differs.

    Raises ShopError for one that cannot be played.
    """
    with in_the_shops_words():
        return engine.replay(target, names, steps, where)
