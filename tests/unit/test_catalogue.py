"""Every mode and recipe describes itself, in its file, in the same form."""

from __future__ import annotations

import re

import pytest

from app.lab.sources import ways
from app.lab.sources.matrix_rows import matrix
from app.locks import LOCKS
from app.locks import SQL as LOCKS_IN_SQL
from app.locks.handle import Handle
from app.modes import IN_SQL, MODES, SQL, Mode, Way
from app.service import catalogue

ENTRIES = catalogue.modes() + catalogue.recipes()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry.name))
def test_each_says_how_what_it_prevents_breaks_and_costs(entry: catalogue.CatalogueEntry) -> None:
    assert all((entry.title, entry.how, entry.prevents, entry.breaks, entry.cost, entry.sound))
    assert entry.taught.endswith(".")


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry.name))
def test_each_row_can_be_read_alone(entry: catalogue.CatalogueEntry) -> None:
    """Lists and the lab show a row's first line only: it must not stop in mid-sentence."""
    for row in (entry.how, entry.prevents, entry.breaks, entry.cost, entry.sound):
        assert not re.search(r"([,;:(-]| (a|an|and|as|by|for|in|of|or|the|to|with))$", row), row
        assert row.count("(") == row.count(")"), row


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry.name))
def test_an_exhibit_is_labelled_where_it_stands(entry: catalogue.CatalogueEntry) -> None:
    never = entry.sound.startswith("never")
    assert ("An exhibit: broken on purpose" in entry.title) == entry.exhibit == never


@pytest.mark.parametrize("target", ways())
def test_what_oversells_in_a_failover_is_sound_under_a_condition(target: str) -> None:
    entry = ways()[target]
    assert "always" not in entry.sound, "nothing is"
    survived = [
        cell.finding != "oversell"
        for row in matrix(target).rows
        for cell in row.cells
        if cell.column == "1 failover"
    ]
    if not all(survived) and not entry.exhibit:
        assert re.search("failover|forgets", entry.sound), entry.sound


@pytest.mark.parametrize(
    ("base", "kind"),
    [(Mode, kind) for kind in MODES.values()] + [(Handle, kind) for kind in LOCKS.values()],
)
def test_each_states_in_its_own_class_what_most_do_not_share(base: type, kind: type) -> None:
    assert base.__annotations__.keys() - vars(base).keys() <= vars(kind).keys()


def test_names_are_those_of_the_dicts() -> None:
    assert all(name == mode.name for name, mode in MODES.items())
    assert all(name == recipe.name for name, recipe in LOCKS.items())


def test_those_that_sell_or_lock_in_sql_are_known_before_they_are_loaded() -> None:
    assert [mode.name for mode in MODES.values() if mode.needs in IN_SQL] == list(SQL)
    in_tables = [recipe.name for recipe in LOCKS.values() if recipe.needs in IN_SQL]
    assert in_tables == list(LOCKS_IN_SQL)


def test_lock_alone_means_lock_lease() -> None:
    assert catalogue.parse_way("lock") == catalogue.parse_way("lock:lease") == Way.of("lock:lease")
    assert not Way.of("lock:lease").exhibit
    assert Way.of("naive").exhibit
