"""docs/modes.md: the shortest schedule of two buyers and one apple that breaks each mode.

`python -m tests.unit.explorer.shortest_schedules` writes it again.
"""

from __future__ import annotations

from pathlib import Path

from badluck.explorer import Explorer
from badluck.report.chart import chart
from badluck.search.names import LETTERS

from app.explorer.matrix import COLUMNS
from app.explorer.targets import Target, explorable
from app.explorer.vocabulary import VOCABULARY

FILE = Path(__file__).parents[3] / "docs" / "modes.md"
BUYERS = 2
INTRODUCTION = """\
# How each mode goes wrong

For each mode of `app/modes`, the shortest schedule of two buyers and one apple that goes wrong. Its
faults are those of the first column of [the matrix](matrix.md) in which the mode fails. In brackets
is its cost: faults, switches between buyers, steps ([how to read a chart](explorer.md)). The
explorer found each in the mode's real code; a test finds it again. The failures of `lock` depend on
its recipe: see [the recipes' pages](locks/README.md). For the SQL modes, `lastapple explore sql`
(`sql_lock`, `sql_version`, `sql_units`) shows which buyer waits for which.
"""


def modes() -> list[str]:
    return [name for name in explorable() if ":" not in name]


def shortest(name: str) -> str:
    """Return its part of the page."""
    explorer = Explorer(Target(name), BUYERS)
    for column, faults in COLUMNS.items():
        report = explorer.explore(faults)
        assert report.exhaustive
        if report.findings:
            worst = report.findings[0]
            drawn = chart(worst.trace, LETTERS[:BUYERS], vocabulary=VOCABULARY)
            title = f"{worst.name}, {column} {tuple(worst.cost)}"
            return f"\n## {name}\n\n{title}\n\n```timeline {name}\n{drawn}\n```\n"
    raise AssertionError(f"{name} survives every fault")


def page() -> str:
    return INTRODUCTION + "".join(map(shortest, modes()))


if __name__ == "__main__":
    FILE.write_text(page())
