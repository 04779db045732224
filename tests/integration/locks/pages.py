"""The pages in docs/locks: their timelines are what really happens, their list is the catalogue.

`python -m tests.integration.locks.pages` writes both again.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from app.lab.sources.timelines import drawings
from app.locks import LOCKS
from app.service import catalogue
from tests.integration.locks.stories import STORIES
from tests.integration.locks.story import Story, Telling, Where
from tests.support.servers import StoreServer

FOLDER = Path(__file__).parents[3] / "docs" / "locks"
INDEX = FOLDER / "README.md"
BLOCK = "```timeline {name}\n{text}```\n"
TABLE = "<!-- the list: written by tests/integration/locks/pages.py -->\n{text}<!-- end -->\n"


def blocks(page: str) -> dict[str, str]:
    """Return the timelines on a page by their names."""
    return {drawing.name: drawing.text for drawing in drawings(page)}


def timeline(where: Where, recipe: str, telling: Telling) -> str:
    story = Story(where, recipe)
    try:
        telling(story)
        story.ends()
        return _drawn(story)
    finally:
        story.close()


def _drawn(story: Story) -> str:
    """Draw a column for each buyer, by name, and then the values after each step."""
    if story.wide:
        columns = [f"buyer {name}" for name in sorted(buyer.name for buyer in story.buyers)]
        table = [
            [row.text if column == f"buyer {row.who}" else "|" for column in columns]
            for row in story.rows
        ]
    else:
        columns = ["buyer"]
        table = [[f"{row.who}  {row.text}"] for row in story.rows]
    told = [cells for cells, row in zip(table, story.rows, strict=True) if row.who]
    widths = [max(map(len, column)) for column in zip(columns, *told, strict=True)]
    across = sum(widths) + 2 * (len(widths) - 1)
    states = (row.state for row in story.rows)
    looks = [max(map(len, column)) for column in zip(story.looks, *states, strict=True)]

    def beside(cells: Iterable[str]) -> str:
        return "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))

    def line(number: object, middle: str, state: Iterable[str]) -> str:
        values = (f"{value:<{wide}}" for value, wide in zip(state, looks, strict=True))
        return f"{number:>2}  {middle:<{across}}  {'  '.join(values)}".rstrip() + "\n"

    drawn, number = [line("#", beside(columns), story.looks)], 0
    for row, cells in zip(story.rows, table, strict=True):
        number += row.command
        middle = beside(cells) if row.who else f"~~ {row.text} ".ljust(across, "~")
        drawn.append(line(number if row.command else "", middle, row.state))
    return "".join(drawn)


def with_timelines(page: str, where: Where, recipe: str) -> str:
    """Return the page with every timeline as it happens now."""
    for name, telling in STORIES[recipe].items():
        page = _replaced(page, BLOCK, name=name, text=timeline(where, recipe, telling))
    return page


def _replaced(page: str, form: str, text: str, **names: str) -> str:
    """Replace the text in `form` by `text`, if the form is on the page."""
    old = form.format(text=".*?", **names)
    return re.sub(old, lambda _: form.format(text=text, **names), page, flags=re.DOTALL)


def index() -> str:
    """Return the list of docs/locks/README.md, from the recipes' own descriptions."""
    rows = [
        "| Recipe | What it is | Prevents | Breaks | Cost | Sound |",
        "|---|---|---|---|---|---|",
    ]
    for entry in catalogue.recipes():
        label, _, exhibit = entry.title.partition(" An exhibit: ")
        name = f"[`{entry.name}`]({entry.name}.md)" + (f" ({exhibit[:-1]})" if exhibit else "")
        cells = (name, label, entry.prevents, entry.breaks, entry.cost, entry.sound)
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def with_index(page: str) -> str:
    return _replaced(page, TABLE, index())


def rewrite() -> None:
    with tempfile.TemporaryDirectory() as name, servers(Path(name)) as where:
        for recipe in told():
            page = FOLDER / f"{recipe}.md"
            page.write_text(with_timelines(page.read_text(), where, recipe))
    INDEX.write_text(with_index(INDEX.read_text()))


def told() -> list[str]:
    """Return the recipes whose pages are played, of those that exist."""
    return [recipe for recipe in STORIES if recipe in LOCKS]


@contextmanager
def servers(folder: Path, program: str | None = None, database: str = "") -> Iterator[Where]:
    """Start servers only for the stories, which empty them. SQLite unless `database` is a URL."""
    with ExitStack() as stack:
        urls = []
        for number in range(4):
            server = StoreServer(folder / str(number), program, appendfsync="no")
            stack.callback(server.stop)
            urls.append(server.url)
        yield Where(urls[0], tuple(urls[1:]), database or f"sqlite:///{folder / 'locks.db'}")


if __name__ == "__main__":
    rewrite()
