"""The source of a mode or a recipe, as it runs here."""

from __future__ import annotations

import inspect
import sys

from app.modes import MODES
from app.service import catalogue
from app.service.catalogue import Entry


def source(module: str) -> str:
    """Of a module of app.modes, app.locks or fairlock that is loaded."""
    return inspect.getsource(sys.modules[module])


def module_of(mode: str) -> str:
    """The mode's own, of `mode` or `mode:recipe`."""
    return MODES[mode.partition(":")[0]].__module__


def promises(mode: str) -> list[Entry]:
    """What the mode says of itself, and its recipe."""
    name, _, recipe = mode.partition(":")
    entries = [entry for entry in catalogue.modes() if entry.name == name]
    return entries + [entry for entry in catalogue.recipes() if recipe and entry.name == recipe]
