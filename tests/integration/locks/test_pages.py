"""docs/locks: a page for every recipe, and every timeline on it has just happened again."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from app.service import catalogue
from tests.integration.locks import pages
from tests.integration.locks.stories import DRAWN_BY_HAND, STORIES
from tests.integration.locks.story import Where
from tests.support.servers import PostgresServer, redis_server

REWRITE = "To write it anew: .venv/bin/python -m tests.integration.locks.pages (then read the diff)"
SECTIONS = [
    "When all goes well",
    "How it fails",
    "What prevents it",
    "What it costs",
    "When to use it",
]
RECIPES = {entry.name: entry for entry in catalogue.recipes()}
EACH = pytest.mark.parametrize("recipe", RECIPES)


@pytest.fixture(scope="module", params=["valkey and sqlite", "redis and postgresql"])
def where(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Where]:
    """Servers only for the stories: they empty them, and load their scripts."""
    folder = tmp_path_factory.mktemp("stories")
    program, database = None, ""
    if request.param == "redis and postgresql":
        postgres: PostgresServer = request.getfixturevalue("postgres")
        program, database = redis_server(), postgres.database()
    with pages.servers(folder, program, database) as where:
        yield where


def page(recipe: str) -> str:
    return (pages.FOLDER / f"{recipe}.md").read_text()


# A waiter that `queue` calls has 100 ms to take the lock.
TIMED = {"queue": pytest.mark.timed}


@pytest.mark.parametrize(
    "recipe", [pytest.param(name, marks=TIMED.get(name, ())) for name in pages.told()]
)
def test_its_timelines_are_what_happens(where: Where, recipe: str) -> None:
    written = page(recipe)
    assert set(pages.blocks(written)) == set(STORIES[recipe])
    assert pages.with_timelines(written, where, recipe) == written, REWRITE


@EACH
def test_every_recipe_has_its_page_in_the_same_order(recipe: str) -> None:
    written = page(recipe)
    assert written.startswith(f"# {recipe}: {RECIPES[recipe].title}\n")
    assert re.findall(r"^## (.+)$", written, re.MULTILINE) == SECTIONS
    code = f"app/locks/{recipe}.py"
    assert f"[{code}](../../{code})" in written


@EACH
def test_a_page_is_played_or_says_that_it_is_drawn_by_hand(recipe: str) -> None:
    assert (recipe in STORIES) != (recipe in DRAWN_BY_HAND)
    by_hand = "drawn by hand" in " ".join(page(recipe).split())
    assert by_hand == (recipe in DRAWN_BY_HAND)


@EACH
def test_an_exhibit_oversells_or_gets_stuck_on_its_page(recipe: str) -> None:
    if RECIPES[recipe].exhibit:
        last = pages.blocks(page(recipe))["fails"].splitlines()[-1]
        assert "OVERSOLD" in last or "sold 0 of 1" in last


def test_the_list_is_the_catalogues() -> None:
    written = pages.INDEX.read_text()
    assert pages.with_index(written) == written, REWRITE
    assert pages.index() in written, "the marks around the list are gone"
