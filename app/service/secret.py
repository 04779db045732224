"""The secrets that are kept in VAR_DIR: made there when first asked for."""

from __future__ import annotations

import os
import secrets

from app.config import Settings, is_loopback


def secret(settings: Settings) -> str:
    """What signs the buyer's cookie and the keys of forms: the one set, or the one kept."""
    return settings.secret_key or _kept(settings, "secret", secrets.token_hex(32))


def lab_token(settings: Settings) -> str:
    """What the lab asks for; "" when it asks for nothing (see the setting)."""
    match settings.lab_token:
        case "off":
            return ""
        case "" if is_loopback(settings.lab_host):
            return ""
        case "":
            return _kept(settings, "lab-token", secrets.token_urlsafe(12))
    return settings.lab_token


def _kept(settings: Settings, name: str, new: str) -> str:
    path = settings.var / name
    path.parent.mkdir(parents=True, exist_ok=True)
    mine = path.with_name(f"{name}.{os.getpid()}")
    mine.touch(mode=0o600)
    mine.write_text(new)
    try:
        os.link(mine, path)  # the first one wins, whole
    except FileExistsError:
        pass
    finally:
        mine.unlink()
    return path.read_text()
