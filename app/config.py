"""All settings in one table: name, default, help. Read from the environment once."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from app.checks import BadSetting, check_hosts, check_masters, check_names, check_rate, check_store

EVERYWHERE = "0.0.0.0"  # noqa: S104  as a setting: the person's own choice
LONGEST_SOCKET_PATH = 104  # bytes that every system takes; Linux takes four more
DURABILITIES = ("fast", "safe", "replicated")


def setting(
    default: Any, text: str, low: int = 0, high: int = 0, secret: bool = False, same: bool = False
) -> Any:
    """Return one row of the table. `low`..`high` bound a number; a secret's value is never shown.

    `same`: all hosts that share a store need the same value.
    """
    metadata = {"help": text, "low": low, "high": high, "secret": secret, "same": same}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Settings:
    """The table of settings. A field `shop_port` is the environment variable SHOP_PORT."""

    redis_url: str = setting(
        "",
        "Redis or Valkey to sell from; empty: the embedded Valkey. "
        "A cluster: redis+cluster://host:port,host:port,… with some of its nodes",
        secret=True,
        same=True,
    )
    database_url: str = setting(
        "", "where orders are kept; empty: SQLite in VAR_DIR", secret=True, same=True
    )
    var_dir: str = setting(
        "var",
        "folder for everything that is written: data, logs, secrets; private to the user that runs "
        "the shop",
    )
    secret_key: str = setting(
        "", "signs cookies and form keys; empty: made once, kept in VAR_DIR", secret=True, same=True
    )
    secret_key_old: str = setting(
        "",
        "a second secret, with which cookies and form keys are read and never signed: the one "
        "before or after SECRET_KEY, while that is changed; empty: none",
        secret=True,
    )
    shop_host: str = setting("127.0.0.1", "address the shop listens on")
    shop_port: int = setting(8000, "port of the shop, the customers' server", 1, 65_535)
    shop_workers: int = setting(2, "processes of the shop", 1, 64)
    shop_threads: int = setting(16, "threads of each of them", 1, 512)
    lab_host: str = setting(
        "127.0.0.1",
        "address the lab listens on; another one than loopback needs its token (LAB_TOKEN)",
    )
    lab_token: str = setting(
        "",
        "what the lab asks for before it lets anybody in, 8 characters or more; empty: nothing on "
        "loopback, else one that is made once and kept in VAR_DIR; off: nothing, as something else "
        "keeps strangers out",
        secret=True,
    )
    lab_sell: str = setting(
        "",
        "a file of your own with sell(redis, buyer), which the lab's explorer shows next to the "
        "modes; empty: none",
    )
    lab_port: int = setting(8001, "port of the lab, the instructor's server", 1, 65_535)
    shop_url: str = setting("", "the shop's address as browsers see it; empty: host and port")
    allowed_hosts: str = setting(
        "",
        "host names of shop and lab in addition to their own, with commas between, as a Host "
        "header has them; .example.com: all below it, too; *: any",
    )
    trusted_proxies: int = setting(
        0,
        "proxies before the shop, each of which says for whom it asks (X-Forwarded-For, -Proto, "
        "-Host, X-Request-Id); 0: ignore all forwarded headers",
        0,
        8,
    )
    shop_rate: str = setting(
        "",
        "how often one address may ask to buy, at each worker, like 30/minute (second, minute, "
        "hour or day); this machine is never counted; empty: as often as it likes",
    )
    store_port: int = setting(8002, "port of the embedded Valkey, on loopback", 1, 65_535)
    durability: str = setting(
        "safe",
        "where a sale is when its buyer is told. fast: in the store's memory, on its disk within a "
        "second or two; safe: on its disk; replicated: in a replica, too (docs/durability.md)",
        same=True,
    )
    redlock_urls: str = setting(
        "",
        "the independent masters of lock:redlock, three or more, with commas between; "
        "empty: the three small Valkeys that `up` starts",
        secret=True,
        same=True,
    )
    zookeeper_hosts: str = setting(
        "",
        "where lock:zookeeper finds its servers, host:port with commas between; empty: none",
        same=True,
    )
    # 400 ms: a purchase that fails meets at most two time-outs (its command and the release of
    # its lock), and an answer must come within a second. Not below fulfil's wait for new sales.
    store_timeout: int = setting(400, "ms to wait for the store's answer", 300, 60_000)
    database_timeout: int = setting(5_000, "ms to wait for the database", 100, 60_000)
    default_mode: str = setting("atomic", "mode of the rounds that `up` starts by itself")
    fulfil_batch: int = setting(500, "most sales moved to the database at once", 1, 10_000)
    # Longer than the longest lease of a round: a lesson may freeze its holder for that long.
    hang_limit: int = setting(
        900,
        "s after which `up` kills and starts again what runs and does not answer, longer than any "
        "lease; 0: never",
        0,
        86_400,
    )

    @property
    def var(self) -> Path:
        return Path(self.var_dir).resolve()

    @property
    def store(self) -> str:
        """The URL of the store."""
        if self.redis_url:
            return self.redis_url
        if self.store_socket:
            return self._embedded(f"unix://{self.store_socket}")
        return self._embedded(f"redis://127.0.0.1:{self.store_port}")

    def _embedded(self, address: str) -> str:
        password = self.store_password
        return f"{address}?db=0&password={password}" if password else f"{address}?db=0"

    @property
    def store_password(self) -> str:
        """The password of the embedded servers; "" until `up` has made it."""
        try:
            return (self.var / "store-password").read_text()
        except OSError:
            return ""

    @property
    def store_socket(self) -> Path | None:
        """The socket of the embedded Valkey, next to its port; None where the path is too long.

        By wrk, 1.1 times the purchases a second of the port on loopback.
        """
        return _bindable(self.var / "store" / "store.sock")

    @property
    def replica_socket(self) -> Path | None:
        """The socket of the embedded Valkey's replica, which has no port."""
        return _bindable(self.var / "store" / "replica.sock")

    @property
    def appendfsync(self) -> str:
        """The moment at which the embedded servers sync what they append to their logs."""
        return "everysec" if self.durability == "fast" else "always"

    @property
    def own_sell(self) -> Path | None:
        """The file in LAB_SELL."""
        return Path(self.lab_sell).resolve() if self.lab_sell else None

    @property
    def standings(self) -> Path:
        """The file in which `up` writes the state of its processes, for shop and lab."""
        return self.var / "processes.json"

    @property
    def metrics(self) -> Path:
        """The folder in which the shop's workers write their figures for Prometheus."""
        return self.var / "metrics"

    @property
    def masters(self) -> list[str]:
        """URLs of the masters of lock:redlock; none where their sockets' paths are too long."""
        if self.redlock_urls:
            return [url.strip() for url in self.redlock_urls.split(",")]
        return [self._embedded(f"unix://{socket}") for socket in self.master_sockets]

    @property
    def master_sockets(self) -> list[Path]:
        """The sockets of the embedded masters, which have no ports."""
        paths = [self.var / "store" / f"redlock-{number}.sock" for number in (1, 2, 3)]
        return [path for path in paths if not self.redlock_urls and _bindable(path)]

    @property
    def database(self) -> str:
        """SQLAlchemy URL of the database."""
        return self.database_url or f"sqlite:///{self.var / 'orders.db'}"

    @property
    def other_hosts(self) -> list[str]:
        """The hosts in ALLOWED_HOSTS."""
        return [name.strip() for name in self.allowed_hosts.split(",") if name.strip()]

    @property
    def shop_address(self) -> str:
        return self.shop_url or self.shop_directly

    @property
    def shop_name(self) -> str:
        """The host in SHOP_URL; "" without one."""
        return urlsplit(self.shop_url).hostname or ""

    @property
    def shop_directly(self) -> str:
        """The shop's address for our own programs: past any proxy that browsers use."""
        return f"http://{reached(self.shop_host)}:{self.shop_port}"

    @property
    def lab_address(self) -> str:
        return f"http://{reached(self.lab_host)}:{self.lab_port}"

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> Settings:
        """Read the settings from the environment; defaults for the rest.

        Raises BadSetting for a value that is no number or out of bounds, and for an unknown choice.
        """
        values: dict[str, Any] = {
            row.name: _parse(row.name.upper(), environ[row.name.upper()], row)
            for row in SETTINGS
            if environ.get(row.name.upper(), "") != ""
        }
        settings = cls(**values)
        check_store(settings.store)
        if settings.redlock_urls:
            check_masters(settings.masters)
        check_hosts(settings.zookeeper_hosts)
        check_names(settings.other_hosts)
        check_rate(settings.shop_rate)
        if not settings.database.startswith(("sqlite:///", "postgresql:", "postgresql+psycopg:")):
            raise BadSetting("DATABASE_URL must begin with sqlite:/// or postgresql://")
        if len({settings.shop_port, settings.lab_port, settings.store_port}) < 3:
            raise BadSetting("SHOP_PORT, LAB_PORT and STORE_PORT must differ from each other")
        if len(settings.lab_token) < 8 and settings.lab_token not in ("", "off"):
            raise BadSetting("LAB_TOKEN is too short to keep anybody out: 8 characters, or off")
        if settings.durability not in DURABILITIES:
            choices = ", ".join(DURABILITIES)
            raise BadSetting(f"DURABILITY is {settings.durability!r}; choose {choices}")
        return settings


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def reached(host: str) -> str:
    """Return the address at which this machine reaches a server that listens on `host`."""
    return "127.0.0.1" if host == EVERYWHERE else host


def _bindable(socket: Path) -> Path | None:
    """Return the path, or None if it is too long for a socket."""
    return socket if len(os.fsencode(socket)) < LONGEST_SOCKET_PATH else None


def _parse(name: str, text: str, row: Any) -> str | int:
    if isinstance(row.default, str):
        return text
    low, high = row.metadata["low"], row.metadata["high"]
    if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
        raise BadSetting(f"{name} is {text!r}; it must be a whole number from {low} to {high}")
    return int(text)


SETTINGS = fields(Settings)
