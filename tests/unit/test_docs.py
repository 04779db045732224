"""Links of the docs lead somewhere, commands exist, and decisions stay few and short."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from app.cli import COMMANDS, main
from app.server.contract.fields import REQUESTS

TOP = Path(__file__).parents[2]
DECISIONS = TOP / "docs" / "decisions"
INDEX = DECISIONS / "README.md"
PAGES = [TOP / name for name in ("README.md", "README.zh.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES += sorted((TOP / "docs").rglob("*.md"))
LINK = re.compile(r"\]\(([^)\s]+)\)")
AREAS = sorted(set(DECISIONS.glob("*.md")) - {INDEX})
MOST_PAGES, MOST_LINES, WIDEST = 15, 10, 120  # of decisions; lines that are not blank


def links(page: Path) -> Iterator[tuple[str, str]]:
    """Yield (file, heading) of each link to a file of the project; "" for the page itself."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    for address in LINK.findall(text):
        if "://" not in address:
            file, _, heading = address.partition("#")
            yield file, heading


def headings(page: Path) -> set[str]:
    """Return the headings as GitHub writes them in an address."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(TOP)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for file, heading in links(page):
        there = page.parent / file if file else page
        assert there.exists(), file
        assert not heading or heading in headings(there), f"{file}#{heading}"


def test_a_key_is_promised_the_same_everywhere() -> None:
    promises, readme = TOP / "docs" / "promises.md", TOP / "README.md"
    for text in (promises.read_text(), readme.read_text(), REQUESTS["Idempotency-Key"].says):
        assert "one key has one order of each item" in text


def test_links_are_seen() -> None:
    assert ("docs/lab.md", "") in links(TOP / "README.md")
    assert ("../running.md", "when-the-store-has-lost-something") in links(
        DECISIONS / "durability.md"
    )


def typed(page: Path) -> list[list[str]]:
    """Return the words after `lastapple` of each line of code that begins with it."""
    lines = re.findall(r"^ +\.venv/bin/lastapple (.+)$", page.read_text(), re.MULTILINE)
    return [shlex.split(line, comments=True) for line in lines]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if typed(page)], ids=lambda page: page.name
)
def test_every_line_to_type_is_a_command_with_its_options(page: Path) -> None:
    for words in typed(page):
        command: click.Command = main
        while isinstance(command, click.Group):
            name = words.pop(0)
            found = command.get_command(click.Context(command), name)
            assert found is not None, f"lastapple has no {name}"
            command = found
        known = {option for each in command.params for option in each.opts} | {"--help"}
        assert {word for word in words if word.startswith("--")} <= known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(TOP)))
def test_every_command_that_is_named_exists(page: Path) -> None:
    assert set(re.findall(r"`lastapple (\w+)", page.read_text())) <= COMMANDS.keys()


def test_the_index_names_each_page_of_decisions_by_its_title() -> None:
    listed = re.findall(r"^\| \[(.+)\]\((.+)\) \| .+ \|$", INDEX.read_text(), re.MULTILINE)
    titles = [(page.read_text().partition("\n")[0].removeprefix("# "), page.name) for page in AREAS]
    assert sorted(listed) == sorted(titles)


def test_decisions_have_few_pages() -> None:
    pages = [path for path in DECISIONS.rglob("*") if path.is_file()]
    assert len(pages) <= MOST_PAGES


@pytest.mark.parametrize("page", AREAS, ids=lambda page: page.name)
def test_a_decision_is_short_and_says_why(page: Path) -> None:
    introduction, *decisions = re.split(r"^## ", page.read_text(), flags=re.MULTILINE)
    assert "This page covers" in introduction
    for decision in decisions:
        title, *lines = [line for line in decision.splitlines() if line.strip()]
        assert len(lines) <= MOST_LINES, title
        assert max(map(len, lines)) <= WIDEST, title
        assert "**Why" in decision or "| Why |" in decision, title
