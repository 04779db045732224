"""Keep VAR_DIR to the user that runs the shop: buyers' orders and the shop's secrets are in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

# What we write there. VAR_DIR may hold other files, which are not ours to change.
SECRETS = ("secret*", "lab-token*", "store-password*")
FILES = (*SECRETS, "orders.db*", "lock", "processes.*", "fulfil.beat")
FOLDERS = ("log", "store", "metrics")
OTHERS = 0o077  # what a mode gives to all other users


def make_private(var: Path) -> list[str]:
    """Let no other user read what is in VAR_DIR, or what this process and its children write.

    Return a sentence for each file that stays open to others.
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
