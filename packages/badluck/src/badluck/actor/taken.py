"""What installed libraries have taken by name: `from os import urandom` is a name of theirs.

(A project's modules are imported anew by each actor, when all is replaced already.)
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from badluck.actor.replaced import Replacement

OURS = "badluck."  # which mean what they say, also where they are installed
LIBRARIES = ("/site-packages/", "/dist-packages/")


def taken(replacements: Sequence[Replacement]) -> Iterator[Replacement]:
    """The same in the modules of libraries that hold the original under a name of their own."""
    instead = {id(vars(owner)[name]): value for owner, name, value in replacements}
    for module in list(sys.modules.values()):
        file = str(getattr(module, "__file__", None)).replace("\\", "/")
        if module.__name__.startswith(OURS) or not any(one in file for one in LIBRARIES):
            continue
        for name, held in list(vars(module).items()):
            if id(held) in instead:
                yield module, name, instead[id(held)]
