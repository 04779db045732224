"""`make translations`: bring the catalogues up to date with pages, errors, docstrings and drawings.

New texts are added untranslated, and unused texts are removed; test_translations reports what is
left to translate.
"""

from __future__ import annotations

import tempfile
from contextlib import chdir
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.frontend import CommandLineInterface
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "app" / "translations"


def gather() -> Catalog:
    """Return all texts of code and drawings, from the places that pyproject.toml lists."""
    with tempfile.NamedTemporaryFile(suffix=".pot") as template, chdir(ROOT):
        said = ["pybabel", "--quiet", "extract", "-F", "pyproject.toml", "-o", template.name]
        CommandLineInterface().run([*said, "app", "packages/figures/src", "docs"])
        return read_po(template)


def catalogue(language: str) -> Catalog:
    with path(language).open("rb") as source:
        return read_po(source, locale=language)


def path(language: str) -> Path:
    return FOLDER / language / "LC_MESSAGES" / "messages.po"


def update(language: str) -> None:
    known = catalogue(language)
    known.update(gather(), no_fuzzy_matching=True, update_creation_date=False)
    with path(language).open("wb") as target:
        write_po(target, known, width=100, ignore_obsolete=True, include_lineno=False)


if __name__ == "__main__":
    for folder in FOLDER.iterdir():
        update(folder.name)
