"""The project's modules, imported again by each actor, so that no two actors share a variable."""

from __future__ import annotations

import importlib
import os
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.readers import FileReader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple

from greenlet import getcurrent

from badluck.actor.actor import Fiber, here

# Also in a virtual environment that lies in the project.
PACKAGES = ("site-packages", "dist-packages")
INSTALLED = tuple(
    f"{folder}{os.sep}"
    for folder in (
        *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib")),
        Path(__file__).parents[1],
    )
)
SCRIPT = "__badluck_main__"  # the script that was started, so that `if __name__ ==` does not hold


@cache
def in_project(path: str | None) -> bool:
    """Is that a file of the project: Python code that is not installed?"""
    if path is None or not os.path.isabs(path) or path.startswith(INSTALLED):
        return False
    return path.endswith(".py") and not set(PACKAGES) & set(Path(path).parts)


class ModuleLocation(NamedTuple):
    """The place of a module; a package without a file has folders only."""

    file: str | None
    folders: Sequence[str] | None


class Project(MetaPathFinder, Loader):
    """Finder and loader of the project's modules, whether they were imported already or not."""

    def __init__(self) -> None:
        self.originals = dict(_imported())
        self.instead: dict[int, Any] = {}  # replacements for the system's own, by its id
        self.places: dict[str, ModuleLocation | None] = {}
        self.compiled: dict[str, CodeType] = {}

    def original(self, name: str) -> ModuleType | None:
        """Return the module that was imported before; None if it is not the project's."""
        return self.originals.get(_known_as(name))

    def module(self, name: str) -> ModuleType:
        """Return the module of the actor whose code is running."""
        return importlib.import_module(_known_as(name))

    @contextmanager
    def hide_modules(self) -> Iterator[None]:
        """Hide the imported modules, so that each actor imports them itself."""
        hidden = {name: sys.modules.pop(name) for name in self.originals if name in sys.modules}
        sys.meta_path.insert(0, self)
        try:
            yield
        finally:
            sys.meta_path.remove(self)
            sys.modules.update(hidden)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not isinstance(getcurrent(), Fiber):
            return None
        if fullname not in self.places:
            self.places[fullname] = self._place(fullname, path)
        place = self.places[fullname]
        if place is None:
            return None
        spec = ModuleSpec(fullname, self, origin=place.file, is_package=place.folders is not None)
        spec.has_location = place.file is not None
        if place.folders is not None:
            spec.submodule_search_locations = [*place.folders]
        return spec

    def _place(self, name: str, path: Sequence[str] | None) -> ModuleLocation | None:
        """Return the module's place; None if it is installed."""
        if original := self.originals.get(name):
            file = getattr(original, "__file__", None)
            # A substitute for a package (pytest makes such) is one, too.
            folders = getattr(original, "__path__", () if file is None else None)
            return ModuleLocation(file, folders)
        others = (finder for finder in sys.meta_path if finder is not self)
        specs = (finder.find_spec(name, path) for finder in others)
        spec = next(filter(None, specs), None)
        if spec is None or not in_project(spec.origin):
            return None
        return ModuleLocation(spec.origin, spec.submodule_search_locations)

    def get_resource_reader(self, name: str) -> FileReader | None:
        """Return a reader of a package's files, for importlib.resources."""
        file = getattr(sys.modules.get(name), "__file__", None)
        return FileReader(SourceFileLoader(name, file)) if file else None

    def exec_module(self, module: ModuleType) -> None:
        name, file = module.__name__, getattr(module, "__file__", None)
        here().actor.modules[name] = module  # at once: while it runs, others may import it
        if file is None:
            return
        # Code that pytest has put into a test's module, and that its functions call.
        module.__dict__.update(_pytests(self.originals.get(name)))
        try:
            exec(self._code(file), module.__dict__)  # noqa: S102  this is what we are here for
        except BaseException:
            del here().actor.modules[name]
            raise

    def _code(self, file: str) -> CodeType:
        if file not in self.compiled:
            source = Path(file).read_bytes()
            self.compiled[file] = compile(source, file, "exec", dont_inherit=True)
        return self.compiled[file]


def _known_as(name: str) -> str:
    return SCRIPT if name == "__main__" else name


def _imported() -> Iterator[tuple[str, ModuleType]]:
    """Yield the imported modules by name, also their packages without a file."""
    for name, module in list(sys.modules.items()):
        if not in_project(getattr(module, "__file__", None)):
            continue
        yield _known_as(name), module
        while name := name.rpartition(".")[0]:
            package = sys.modules.get(name)
            if package and getattr(package, "__file__", None) is None:
                yield name, package


def _pytests(original: ModuleType | None) -> dict[str, Any]:
    held = vars(original) if original else {}
    return {name: value for name, value in held.items() if name.startswith("@")}
