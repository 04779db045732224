"""How far a search is, as a terminal's spinner says it."""

from __future__ import annotations

from badluck.explorer import Explorer
from rich.text import Text


class Seen:
    """Asked by the spinner when it is drawn, so that the search need not tell anybody anything."""

    def __init__(self, doing: str, explorer: Explorer) -> None:
        self.doing = doing
        self.explorer = explorer

    def __rich__(self) -> Text:
        return Text(f"{self.doing} … {self.explorer.seen:,} states so far")
