"""The secret that signs the buyer's cookie."""

from __future__ import annotations

import os
import secrets

from app.config import Settings


def secret(settings: Settings) -> str:
    """The one set, or the one kept in VAR_DIR; made there by whoever asks first."""
    if settings.secret_key:
        return settings.secret_key
    path = settings.var / "secret"
    path.parent.mkdir(parents=True, exist_ok=True)
    mine = path.with_name(f"secret.{os.getpid()}")
    mine.touch(mode=0o600)
    mine.write_text(secrets.token_hex(32))
    try:
        os.link(mine, path)  # the first one wins, whole
    except FileExistsError:
        pass
    finally:
        mine.unlink()
    return path.read_text()
