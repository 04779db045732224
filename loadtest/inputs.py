"""Checks of the input, each with an error that says what to do. No I/O.

All raise click.BadParameter, which click shows in one line and turns into exit status 2.
"""

from __future__ import annotations

from difflib import get_close_matches
from urllib.parse import urlsplit

import click

from loadtest.lab import About


def split(text: str, example: str) -> list[str]:
    """Split a text at its commas. An empty part or one that is there twice is refused."""
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise click.BadParameter(f"give them with a comma between, as in {example}")
    if doubled := [part for part in dict.fromkeys(parts) if parts.count(part) > 1]:
        raise click.BadParameter(f"{doubled[0]} is there twice")
    return parts


def parse_modes(text: str) -> list[str]:
    """Split "naive,lock:lease". Only the lab knows whether a mode exists."""
    return split(text, "naive,atomic")


def parse_url(text: str) -> str:
    """Check an http(s) address without a path, as http://127.0.0.1:8000; drop its last slash."""
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # a port that is no number
        usable = False
    if not usable or parts.path.strip("/") or parts.query:
        raise click.BadParameter(f"{text!r} is no address like http://127.0.0.1:8000")
    return text.rstrip("/")


def lab_url_for(url: str) -> str:
    """Return the lab's address, if it is where `lastapple up` puts it: one port further."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}:{port + 1}"


def check_modes(modes: list[str], about: About) -> None:
    """Refuse an unknown mode and name the known ones. The lab itself refuses recipes."""
    for mode in modes:
        if mode.partition(":")[0] not in about.modes:
            close = get_close_matches(mode.lower(), about.modes, n=1)
            advice = f"did you mean {close[0]}?" if close else f"known: {', '.join(about.modes)}"
            raise click.BadParameter(f"there is no mode {mode}; {advice}", param_hint="--modes")


def check_threads(buyers: int, about: About) -> None:
    """Refuse fewer threads than buyers: they would measure the queue before them, not the mode."""
    threads = about.workers * about.threads
    if threads < buyers:
        raise click.BadParameter(
            f"the shop has {about.workers} workers × {about.threads} threads = {threads} for "
            f"{buyers} buyers; start it with SHOP_THREADS={-(-buyers // about.workers)} or more, "
            f"or ask for --buyers {threads}",
            param_hint="--buyers",
        )
