"""The secrets that are kept in VAR_DIR: made there when first asked for."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

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


def store_config(settings: Settings) -> Path:
    """The file from which the embedded servers read their password: a command line is public.

    Clients read the password itself (see Settings.store_password).
    """
    password = _kept(settings, "store-password", secrets.token_hex(32))
    path = settings.var / "store" / "password.conf"
    path.unlink(missing_ok=True)
    _kept(settings, "store/password.conf", f"requirepass {password}\nmasterauth {password}\n")
    return path


def _kept(settings: Settings, name: str, new: str) -> str:
    path = settings.var / name
    path.parent.mkdir(parents=True, exist_ok=True)
    mine = path.with_name(f"{path.name}.{os.getpid()}")
    mine.touch(mode=0o600)
    with mine.open("w") as file:
        file.write(new)
        file.flush()
        os.fsync(file.fileno())  # a power cut must not leave it empty
    try:
        os.link(mine, path)  # the first one wins, whole
    except FileExistsError:
        pass
    finally:
        mine.unlink()
    return path.read_text()
