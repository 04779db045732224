"""A trace as columns of text: one for each actor, then the stock and the lock after each step."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from badluck.faults import FAULTS
from badluck.report.trace import Step

NARROWEST = 26  # characters of an actor's column

BETWEEN = {"time": "time passes: {}"} | {
    fault.name: fault.drawn for fault in FAULTS.values() if not fault.befalls_one
}


def chart(steps: Sequence[Step], actors: Sequence[str], width: int = 100) -> str:
    """A finding's trace as lines of text, a column for each of `actors` (`"AB"`).

    `width` in characters; columns never get narrower than is readable.
    """
    last = ["stock", "lock"] if any(step.lock for step in steps) else ["stock"]
    lock = max((len(_short(step.lock)) for step in steps), default=0)
    tail = 8 + (max(4, lock) if len(last) > 1 else 0)
    column = max(NARROWEST, (width - 4 - tail) // len(actors) - 2)
    lines = [_row("", [f"buyer {actor}" for actor in actors], last, column)]
    for number, step in enumerate(steps, 1):
        stand = [str(step.left), *([_short(step.lock) or "-"] if len(last) > 1 else [])]
        if step.does in BETWEEN:
            text = f" {BETWEEN[step.does].format(*step.lines)} "
            wide = (column + 2) * len(actors) - 2
            lines.append(f"{number:>3} {text.center(wide, '~')}  {_tail(stand)}")
            continue
        for nth, text in enumerate(_cell(step, column)):
            cells = [text if actor == step.buyer else "|" for actor in actors]
            lines.append(
                _row(str(number) if nth == 0 else "", cells, stand if nth == 0 else [], column)
            )
    return "\n".join(line.rstrip() for line in lines)


def _cell(step: Step, column: int) -> Iterator[str]:
    for text in _texts(step):
        yield from textwrap.wrap(text, column, subsequent_indent="   ", break_on_hyphens=False)
    if step.told:
        yield f"= told {step.told}"


def _texts(step: Step) -> Iterator[str]:
    fault = FAULTS.get(step.does)
    if fault and fault.tells == "nothing":
        yield fault.drawn
        return
    if step.does == "again":
        yield "comes again; the shelf is filled up"
        return
    who = "(late) " if step.does == "arrives" else "(renewal) " if step.strand else ""
    # Of a transaction only what EXEC answers is news.
    said = step.said[-1:] if len(step.lines) > 1 else step.said
    answer = ", ".join(filter(None, ["; ".join(said), fault.drawn if fault else ""]))
    for nth, line in enumerate(step.lines, 1):
        yield f"{who}{line} -> {answer}" if nth == len(step.lines) and answer else who + line


def _short(lock: str) -> str:
    return lock if len(lock) <= 12 else f"{lock[:11]}…"


def _row(number: str, cells: Sequence[str], stand: Sequence[str], column: int) -> str:
    return f"{number:>3} {'  '.join(cell.ljust(column) for cell in cells)}  {_tail(stand)}"


def _tail(stand: Sequence[str]) -> str:
    return "  ".join(text.ljust(5) for text in stand)
