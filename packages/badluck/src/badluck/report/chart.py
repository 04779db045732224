"""A trace as columns of text: one for each actor, then the values after each step."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Sequence
from unicodedata import category, east_asian_width

from badluck.faults import FAULTS
from badluck.report.trace import Step
from badluck.target import PLAIN, Vocabulary

FILLER = "\uffff"  # no character: stands for the second column of a wide one while lines are filled
NO_WIDTH = ("Mn", "Me", "Cf")  # marks, and characters that only join letters


def columns(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(
        0 if category(char) in NO_WIDTH else 1 + (east_asian_width(char) in "WF") for char in text
    )


def padded(text: str, wide: int) -> str:
    return text + " " * (wide - columns(text))


def filled(text: str, wide: int) -> Iterator[str]:
    """Yield lines of so many columns; all except the first are indented."""
    spread = "".join(char + FILLER * (columns(char) - 1) for char in text)
    for line in textwrap.wrap(spread, wide, subsequent_indent="   ", break_on_hyphens=False):
        yield line.replace(FILLER, "")


NARROWEST = 26  # characters of an actor's column
WIDEST = 16  # of a file and a line in it

LONG_UNITS = (("days", 86_400), ("h", 3_600))  # in s
BETWEEN = {"time": "time passes: {}"} | {
    fault.name: fault.drawn for fault in FAULTS.values() if not fault.befalls_one
}


def chart(
    steps: Sequence[Step], actors: Sequence[str], width: int = 100, vocabulary: Vocabulary = PLAIN
) -> str:
    """A finding's trace as lines of text, a column for each of `actors` (`"AB"`).

    `width` in characters; columns never get narrower than is readable.
    """
    state = _state_columns(steps, vocabulary.charted)
    tails = ["  ".join(texts) for texts in zip(*state, strict=True)] or [""] * (len(steps) + 1)
    spare = 1 if len(state) > 1 else 3
    column = max(NARROWEST, (width - 4 - columns(tails[0]) - spare) // len(actors) - 2)
    heads = [f"{vocabulary.actor} {actor}" for actor in actors]
    several = _doing_several(steps)
    lines = [_row("", heads, column, tails[0])]
    for number, (step, stand) in enumerate(zip(steps, tails[1:], strict=True), 1):
        if step.does in BETWEEN:
            text = f" {between(step)} "
            wide = (column + 2) * len(actors) - 2
            lines.append(f"{number:>3} {text.center(wide, '~')}  {stand}")
            continue
        for nth, text in enumerate(_cell(step, column, vocabulary, step.actor in several)):
            cells = [text if actor == step.actor else "|" for actor in actors]
            lines.append(_row("" if nth else str(number), cells, column, "" if nth else stand))
    return "\n".join(line.rstrip() for line in lines)


def between(step: Step) -> str:
    """Describe a step of all actors, with its duration in readable units."""
    return BETWEEN[step.does].format(*map(_lasts, step.lines))


def _lasts(text: str) -> str:
    number, _, unit = text.partition(" ")
    for name, seconds in LONG_UNITS if unit == "s" else ():
        if float(number) >= 2 * seconds:
            return f"{float(number) / seconds:.1f} {name}"
    return text


def _state_columns(steps: Sequence[Step], charted: Collection[str] | None) -> list[list[str]]:
    """Return the columns that are not always empty, each with its head and padded."""
    columns_shown = [
        [name, *(_short(step.shown[name]) or "-" for step in steps)]
        for name in (steps[0].shown if steps else ())
        if charted is None or name in charted
        if any(step.shown[name] != "" for step in steps)
    ]
    if any(step.line for step in steps):
        columns_shown.insert(0, ["line", *_places(steps)])
    wide = [max(map(columns, each)) for each in columns_shown]
    return [
        [padded(text, width) for text in each]
        for each, width in zip(columns_shown, wide, strict=True)
    ]


def _places(steps: Sequence[Step]) -> Iterator[str]:
    """Yield each step's source line, with its file where there are several."""
    several = len({step.line.rpartition(":")[0] for step in steps if step.line}) > 1
    for step in steps:
        text = step.line if several else step.line.rpartition(":")[2]
        yield text if len(text) <= WIDEST else f"…{text[1 - WIDEST :]}"


def _doing_several(steps: Sequence[Step]) -> set[str]:
    """Return the actors with more than one fiber: additional threads, or several tasks."""
    fibers = {(step.actor, step.fiber) for step in steps if step.lines and step.does != "arrives"}
    actors = [actor for actor, _ in fibers]
    return {actor for actor in actors if actors.count(actor) > 1}


def _cell(step: Step, column: int, vocabulary: Vocabulary, several: bool) -> Iterator[str]:
    for text in texts(step, vocabulary, several):
        yield from filled(text, column)
    if step.outcome:
        outcome = f"= told {step.outcome}".partition("\n")[0]
        yield from filled(outcome, column)


def texts(step: Step, vocabulary: Vocabulary = PLAIN, several: bool = True) -> Iterator[str]:
    """Yield an actor's commands and replies, a line each. `several`: it runs several fibers."""
    fault = FAULTS.get(step.does)
    if fault and fault.tells == "nothing":
        yield fault.drawn
        return
    if step.does == "again":
        yield f"comes again; {vocabulary.refilled}"
        return
    number = f" {step.fiber}" if step.fiber > 1 else ""
    shown = several or vocabulary.fiber_kind == PLAIN.fiber_kind  # with tasks, one is the work
    prefix = f"({vocabulary.fiber_kind}{number}) " if step.fiber and shown else ""
    who = "(late) " if step.does == "arrives" else prefix
    # Of a transaction, only the answers of EXEC are new.
    replies = step.replies[-1:] if len(step.lines) > 1 else step.replies
    answer = ", ".join(filter(None, ["; ".join(replies), fault.drawn if fault else ""]))
    for nth, line in enumerate(step.lines, 1):
        yield f"{who}{line} -> {answer}" if nth == len(step.lines) and answer else who + line


def _short(value: int | str) -> str:
    text = str(value)
    return text if len(text) <= 12 else f"{text[:11]}…"


def _row(number: str, cells: Sequence[str], column: int, tail: str) -> str:
    return f"{number:>3} {'  '.join(padded(cell, column) for cell in cells)}  {tail}"
