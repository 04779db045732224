"""A new fault needs its words on pages and in the matrix; each missing one fails a test."""

from __future__ import annotations

from badluck.faults import FAULTS, Faults

from app.domain.fault_words import FAULT_WORDS
from app.explorer.matrix import COLUMNS


def test_pages_have_words_for_each() -> None:
    assert tuple(FAULT_WORDS) == Faults._fields
    sending = {kind for kind, words in FAULT_WORDS.items() if words.sends}
    assert sending == {kind for kind, fault in FAULTS.items() if "command" in fault.tells}


def test_the_matrix_has_a_column_of_each() -> None:
    columns = [{kind for kind, many in one._asdict().items() if many} for one in COLUMNS.values()]
    assert set.union(*columns) == set(Faults._fields)
