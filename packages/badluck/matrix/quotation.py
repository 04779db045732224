"""Where a quotation stands in what is installed of a library."""

from __future__ import annotations

import re
from importlib.metadata import distribution

PAGE = "its page in the index"


def standing(library: str, quotation: str) -> str:
    """Its page in the index, or the module with the docstring. Raises LookupError for nowhere."""
    wanted = _words(quotation)
    installed = distribution(library)
    if wanted in _words(installed.read_text("METADATA") or installed.read_text("PKG-INFO") or ""):
        return PAGE
    for file in installed.files or []:
        if file.suffix == ".py" and wanted in _words(file.read_text(encoding="utf-8")):
            return str(file)
    raise LookupError(f"{library} does not say: {quotation}")


def _words(text: str) -> str:
    return re.sub(r"[\s#*`]+", " ", text)
