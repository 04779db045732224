"""Write the page of the results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from matrix.row import DOCUMENTED, FINDING, HOLDS, INCONCLUSIVE, NOT_EXPLORED, MatrixRow

TITLE = "# Libraries on redis-py, in every order"
INTRODUCTION = """
Well-known Python libraries on the package index, each compared with a sentence of its own docs.
[badluck](../packages/badluck/README.md) tries every order of the commands of two or three
processes: first without a fault, then with the faults of the row. `make libraries-matrix` writes
this page again, and writes the scripts that it names into `var/findings`.

- **holds**: no order fails, with the faults that the row names.
- **as documented**: an order fails, and the library's docs say so; below is the quotation. A holder
  that pauses for longer than its lease loses every lock with a lease, also our own `fairlock`.
- **finding**: an order fails, and we found nothing about it in the docs. Below are the shortest
  schedule and its cause. A replay checks that a real Valkey and a real Redis give the same replies.
- **could not be explored**, and why.

Each result covers one server and the use in its row, with a client that sends each command once. It
says nothing about other uses of the library, or about its quality.
"""
ORDER = (FINDING, DOCUMENTED, INCONCLUSIVE, HOLDS, NOT_EXPLORED)


def page(results: Sequence[MatrixRow]) -> str:
    return "\n".join(_lines(results)) + "\n"


def _lines(results: Sequence[MatrixRow]) -> Iterator[str]:
    yield TITLE
    yield INTRODUCTION
    yield _counted(results)
    yield ""
    yield "| library | use | its docs say | processes | verdict |"
    yield "|---|---|---|---|---|"
    for row in results:
        claim = f"“{_cell(row.claim)}” ({row.source})"
        yield (
            f"| {row.library} {row.version} | {_cell(row.what)} | {claim} | {row.actors} | "
            f"{_cell(_verdict(row))} |"
        )
    for verdict, title in ((FINDING, "Findings"), (DOCUMENTED, "As documented")):
        yield f"\n## {title}"
        for row in results:
            if row.verdict == verdict:
                yield from _shown(row)


def _counted(results: Sequence[MatrixRow]) -> str:
    explored = {row.library for row in results if row.verdict != NOT_EXPLORED}
    counts = (f"{verdict} {sum(row.verdict == verdict for row in results)}" for verdict in ORDER)
    return f"{len(explored)} libraries explored, in {len(results)} uses: {', '.join(counts)}."


def _verdict(one: MatrixRow) -> str:
    match one.verdict:
        case "holds":
            extent = f"{one.proved}; {one.states:,} states, {one.seconds:.1f} s"
            return f"holds: all orders, {extent}{'; ' * bool(one.reason)}{one.reason}"
        case "inconclusive":
            return f"inconclusive: nothing found in {one.states:,} states, {one.seconds:.1f} s"
        case "could not be explored":
            return f"could not be explored: {one.reason}"
    return f"**{one.verdict}**: {one.wrong}; {one.seconds:.1f} s"


def _shown(one: MatrixRow) -> Iterator[str]:
    yield f"\n### {one.library} {one.version}: {one.what}\n"
    yield f"{one.wrong[0].upper()}{one.wrong[1:]}. {one.reason[0].upper()}{one.reason[1:]}"
    same = [name for name, all_the_same in one.replayed.items() if all_the_same]
    other = [name for name, all_the_same in one.replayed.items() if not all_the_same]
    played = [_played(same, "the same"), _played(other, "different")]
    yield f"\nReplies of real servers: {'; '.join(filter(None, played))}."
    if one.script:
        shows = "shows it" if one.shows else "does not show it"
        yield f"`{one.script}`, without badluck, {shows} on a real Valkey, in real time."
    if one.proved:
        yield f"No order fails with: {one.proved}."
    yield "\n```"
    yield "\n".join(line.rstrip() for line in one.chart.splitlines())
    yield "```"


def _played(names: Sequence[str], how: str) -> str:
    return f"{how} on {' and '.join(names)}" if names else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
