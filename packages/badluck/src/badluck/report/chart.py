"""A trace as columns of text: one for each actor, then how things stand after each step."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from badluck.faults import FAULTS
from badluck.report.trace import Step
from badluck.target import PLAIN, Vocabulary

NARROWEST = 26  # characters of an actor's column

BETWEEN = {"time": "time passes: {}"} | {
    fault.name: fault.drawn for fault in FAULTS.values() if not fault.befalls_one
}


def chart(
    steps: Sequence[Step], actors: Sequence[str], width: int = 100, vocabulary: Vocabulary = PLAIN
) -> str:
    """A finding's trace as lines of text, a column for each of `actors` (`"AB"`).

    `width` in characters; columns never get narrower than is readable.
    """
    widths = _shown(steps, vocabulary.charted)
    tail = sum(widths.values()) + max(3, 2 * len(widths) - 1)
    column = max(NARROWEST, (width - 4 - tail) // len(actors) - 2)
    heads = [f"{vocabulary.actor} {actor}" for actor in actors]
    lines = [_row("", heads, column, _tail(widths, widths))]
    several = _doing_several(steps)
    for number, step in enumerate(steps, 1):
        stand = _tail([_short(step.shown[name]) or "-" for name in widths], widths)
        if step.does in BETWEEN:
            text = f" {BETWEEN[step.does].format(*step.lines)} "
            wide = (column + 2) * len(actors) - 2
            lines.append(f"{number:>3} {text.center(wide, '~')}  {stand}")
            continue
        for nth, text in enumerate(_cell(step, column, vocabulary, step.actor in several)):
            cells = [text if actor == step.actor else "|" for actor in actors]
            lines.append(_row("" if nth else str(number), cells, column, "" if nth else stand))
    return "\n".join(line.rstrip() for line in lines)


def _shown(steps: Sequence[Step], charted: Collection[str] | None) -> dict[str, int]:
    """The columns in which anything ever stands, and how wide they are."""
    names = steps[0].shown if steps else ()
    return {
        name: max(len(name), *(len(_short(step.shown[name])) for step in steps))
        for name in names
        if charted is None or name in charted
        if any(step.shown[name] != "" for step in steps)
    }


def _doing_several(steps: Sequence[Step]) -> set[str]:
    """Actors who do something beside their work, or whose work is several tasks."""
    fibers = {(step.actor, step.fiber) for step in steps if step.lines and step.does != "arrives"}
    actors = [actor for actor, _ in fibers]
    return {actor for actor in actors if actors.count(actor) > 1}


def _cell(step: Step, column: int, vocabulary: Vocabulary, several: bool) -> Iterator[str]:
    for text in _texts(step, vocabulary, several):
        yield from textwrap.wrap(text, column, subsequent_indent="   ", break_on_hyphens=False)
    if step.told:
        told = f"= told {step.told}"
        yield from textwrap.wrap(told, column, subsequent_indent="   ", break_on_hyphens=False)


def _texts(step: Step, vocabulary: Vocabulary, several: bool) -> Iterator[str]:
    fault = FAULTS.get(step.does)
    if fault and fault.tells == "nothing":
        yield fault.drawn
        return
    if step.does == "again":
        yield f"comes again; {vocabulary.refilled}"
        return
    beside = f"({vocabulary.beside}) " if several and step.fiber else ""
    who = "(late) " if step.does == "arrives" else beside
    # Of a transaction only what EXEC answers is news.
    said = step.said[-1:] if len(step.lines) > 1 else step.said
    answer = ", ".join(filter(None, ["; ".join(said), fault.drawn if fault else ""]))
    for nth, line in enumerate(step.lines, 1):
        yield f"{who}{line} -> {answer}" if nth == len(step.lines) and answer else who + line


def _short(value: int | str) -> str:
    text = str(value)
    return text if len(text) <= 12 else f"{text[:11]}…"


def _row(number: str, cells: Sequence[str], column: int, tail: str) -> str:
    return f"{number:>3} {'  '.join(cell.ljust(column) for cell in cells)}  {tail}"


def _tail(texts: Iterable[str], widths: Mapping[str, int]) -> str:
    return "  ".join(map(str.ljust, texts, widths.values()))
