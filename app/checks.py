"""Checks of settings that are no numbers: addresses, names, rates."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

CLUSTER = ("redis+cluster://", "rediss+cluster://")
SCHEMES = ("redis://", "rediss://", "unix://")


class BadSetting(Exception):
    """An environment variable that cannot be used; the text says which and why."""


def split_cluster(url: str) -> tuple[str, list[str], str]:
    """Split a URL into the text before the nodes, the nodes (each host:port), and the text after.

    urlsplit must not see more than one node: newer Pythons refuse a host in brackets that is not
    the first.
    """
    scheme, _, rest = url.partition("://")
    authority = re.split("[/?#]", rest, maxsplit=1)[0]
    user, at, nodes = authority.rpartition("@")
    return f"{scheme}://{user}{at}", nodes.split(","), rest[len(authority) :]


def check_store(url: str) -> None:
    """Check the URL of a store. Raises BadSetting."""
    if url.startswith(CLUSTER):
        _, nodes, behind = split_cluster(url)
        if not all(_is_node(node) for node in nodes):
            raise BadSetting("REDIS_URL of a cluster is redis+cluster://host:port,host:port,…")
        if urlsplit(behind).path not in ("", "/", "/0"):
            raise BadSetting(
                "REDIS_URL of a cluster cannot name a database: a cluster has only one"
            )
    elif not url.startswith(SCHEMES):
        raise BadSetting(
            "REDIS_URL must begin with redis://, rediss://, unix://, redis+cluster:// or "
            "rediss+cluster://"
        )


def _is_node(text: str) -> bool:
    try:
        node = urlsplit(f"//{text}")
        return bool(node.hostname) and node.port != 0  # reading a bad port raises
    except ValueError:
        return False


def check_masters(urls: list[str]) -> None:
    """Check the URLs of redlock's masters. Raises BadSetting."""
    if not all(url.startswith(SCHEMES) for url in urls):
        raise BadSetting("Each of REDLOCK_URLS must begin with redis://, rediss:// or unix://")
    # Two databases of one server die together. And the majority of two masters is both: one that
    # dies would stop everything.
    servers = {urlsplit(url).netloc or urlsplit(url).path for url in urls}
    if len(servers) < max(3, len(urls)):
        raise BadSetting("REDLOCK_URLS must name three or more servers, each of them once")


def check_hosts(text: str) -> None:
    """Check host:port,host:port/node; node and ports may be missing. Raises BadSetting."""
    hosts = text.partition("/")[0].split(",") if text else []
    for host in hosts:
        match = re.fullmatch(r"([\w.-]+|\[[\da-fA-F:.]+\])(:\d{1,5})?", host.strip())
        if match is None or int((match[2] or ":2181")[1:]) not in range(1, 65_536):
            raise BadSetting(f"ZOOKEEPER_HOSTS is {text!r}; it must be like host:2181,host:2181")


def check_rate(rate: str) -> None:
    """Check a rate. Raises BadSetting."""
    if rate and not re.fullmatch(r"[1-9]\d{0,8}/(second|minute|hour|day)", rate, re.ASCII):
        raise BadSetting(
            f"SHOP_RATE is {rate!r}; it must be like 30/minute (second, minute, hour or day), or "
            "empty for no limit"
        )


def check_names(names: list[str]) -> None:
    """Check hosts without ports. Raises BadSetting."""
    for name in names:
        if not re.fullmatch(r"\*|\.?[\w-]+(\.[\w-]+)*|\[[\da-fA-F:.]+\]", name, re.ASCII):
            raise BadSetting(
                f"ALLOWED_HOSTS has {name!r}; it must be names without ports, like "
                "shop.example.com,.example.org"
            )
