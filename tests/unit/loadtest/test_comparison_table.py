"""The tables: min – median – max, dashes for what is missing, stars, the warning at exhibits."""

from __future__ import annotations

from io import StringIO

import pytest
from figures import Spread
from rich.console import Console

from loadtest.columns import COLUMNS, COST, SELL_OUT
from loadtest.table import Summary, cell, line, printable, summaries
from tests.unit.loadtest.real_comparison import Comparison


@pytest.mark.parametrize(
    ("values", "digits", "text"),
    [
        (Spread(1200.4, 1313.2, 1357.9), 0, "1,200 – 1,313 – 1,358"),
        (Spread(0.1, 0.25, 0.5), 2, "0.10 – 0.25 – 0.50"),
        (Spread(1, 1, 1), 2, "1.00"),
        (Spread(0.96, 1, 1.04), 0, "1"),
        (None, 2, "–"),
    ],
)
def test_a_cell_tells_the_spread(values: Spread | None, digits: int, text: str) -> None:
    assert cell(values, digits) == text


def test_every_figure_of_the_issue_has_a_column(real: Comparison) -> None:
    told = {column.name for column in COLUMNS}
    asked = set(real.document["rows"][0]) - {"mode", "repeat", "exhibit", "settled"}
    assert asked - told == {"generator_bound", "cost_busy", "cost_errors"}  # a star, two remarks
    assert len(told) == len(COLUMNS)


def test_lines_are_the_medians_of_the_repeats(real: Comparison) -> None:
    naive = dict(
        zip([one.heading for one in SELL_OUT], line(real.rows[0::4], SELL_OUT), strict=True)
    )
    assert naive["stocked"] == "500"
    assert naive["oversold"] == "1,854 – 2,793 – 2,877"
    watch = dict(zip([one.heading for one in COST], line(real.rows[1::4], COST), strict=True))
    assert watch["goodput, sales/s"] == "184 – 294 – 351"
    assert watch["÷ atomic"] == "0.17 – 0.22 – 0.27"
    assert watch["goodput by wrk"] == "–"


def test_a_star_marks_a_group_with_a_generator_bound_row(real: Comparison) -> None:
    group = real.rows[3::4]
    assert not any("*" in text for text in line(group, COST))
    group[1].generator_bound = True
    starred = [
        column.name for column, text in zip(COST, line(group, COST), strict=True) if "*" in text
    ]
    assert starred == ["goodput"]


def test_modes_stand_beside_each_other_and_the_noop_only_under_cost(real: Comparison) -> None:
    sell_out, cost = summaries(real.rows, real.yardsticks)
    modes = ["naive (broken on purpose)", "watch", "lock", "atomic"]
    assert sell_out.modes == modes
    assert cost.modes == [*modes, "no-op"]
    noop = {heading: cells[-1] for heading, cells in cost.lines}
    assert noop["goodput, sales/s"] == "2,213 – 2,237 – 2,328"
    assert noop["round trips/sale"] == noop["÷ no-op"] == "–"


def printed(summary: Summary, width: int) -> str:
    console = Console(file=StringIO(), width=width)
    console.print(*printable(summary, width))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_a_narrow_terminal_cuts_nothing_off(real: Comparison) -> None:
    for summary in summaries(real.rows, real.yardsticks):
        text = printed(summary, 80)
        assert text.count("┏") == 1, "one table"
        assert "…" not in text


@pytest.mark.parametrize("width", [60, 80, 200])
def test_many_modes_go_into_several_tables_with_their_words_whole(width: int) -> None:
    modes = [f"lock:number_{number} (broken on purpose)" for number in range(10, 35)]
    spreads = tuple(f"1,{number} – 12,{number} – 20,{number}" for number in range(100, 125))
    text = printed(Summary("All", modes, [("goodput, sales/s", spreads)]), width)
    for word in " ".join((*modes, *spreads)).split():
        assert word in text
    assert max(map(len, text.splitlines())) <= width
    assert 1 < text.count("goodput") == text.count("┏") < 25
