"""Protect VAR_DIR from other users: it contains buyers' orders and the shop's secrets."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

# The files that we write there. VAR_DIR may contain other files, which are not ours to change.
SECRETS = ("secret*", "lab-token*", "store-password*")
FILES = (*SECRETS, "orders.db*", "lock", "processes.*", "fulfil.beat")
FOLDERS = ("log", "store", "metrics")
OTHERS = 0o077  # a file mode's rights of all other users


def make_private(var: Path) -> list[str]:
    """Hide the files in VAR_DIR, and all new files of this process and its children, from others.

    Return a sentence for each file that stays open to other users.
    """
    os.umask(OTHERS)
    sentences = []
    for path in _ours(var):
        try:
            mode = path.lstat().st_mode
            # Links may lead out of VAR_DIR; /tmp and its like have to stay open.
            if mode & OTHERS and not stat.S_ISLNK(mode) and not mode & stat.S_ISVTX:
                path.chmod(mode & stat.S_IRWXU)
        except FileNotFoundError:
            continue
        except OSError as error:
            sentences.append(
                f"Other users may read {path}: its mode cannot be changed ({error.strerror}). "
                "Give it to the user that runs the shop."
            )
    return sentences


def _ours(var: Path) -> Iterator[Path]:
    yield var
    for pattern in (*FILES, *FOLDERS):
        yield from var.glob(pattern)
    for folder in FOLDERS:
        yield from (var / folder).rglob("*")
