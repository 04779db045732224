"""A schedule as one HTML file for a bug report: a chart, and a player that steps through it."""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from badluck.frames.source_position import SourceLine
from badluck.report.chart import BETWEEN, between, texts
from badluck.report.report import Finding
from badluck.report.trace import Step
from badluck.report.verdict import cost_text
from badluck.search.names import LETTERS
from badluck.target import Target


def page(
    target: Target,
    actors: int,
    finding: Finding,
    test: str,
    again: str,
    spots: Sequence[SourceLine | None],
) -> str:
    """Return a page for this finding of `test`; the command `again` plays it on a real server.

    The page loads nothing else, and of this machine it shows only names of files.
    """
    steps, names = finding.trace, LETTERS[:actors]
    shown = [
        name for name in (steps[0].shown if steps else ()) if any(s.shown[name] for s in steps)
    ]
    heads = [f"{target.vocabulary.actor} {name}" for name in names]
    plain = {
        "title": f"{target.name}: {finding.name}",
        "functions": target.name,
        "finding": finding.name.upper(),
        "explanation": finding.explanation,
        "cost": cost_text(finding.cost),
        "setting": target.setting,
        "test": test,
        "again": again,
        "last": str(len(steps)),
    }
    rows = [
        _row(nth, step, names, shown, _source(spot))
        for nth, (step, spot) in enumerate(zip(steps, spots or [None] * len(steps), strict=True), 1)
    ]
    head = '<th role="columnheader" scope="col"'
    return Template(files(__package__).joinpath("page.html").read_text("utf-8")).substitute(
        {name: escape(text) for name, text in plain.items()},
        heads=f"{head}>Step</th>"
        + "".join(f"{head}>{escape(text)}</th>" for text in heads)
        + "".join(f"{head} data-key>{escape(name)}</th>" for name in shown),
        rows="\n".join(rows),
    )


def _row(nth: int, step: Step, names: Sequence[str], shown: Sequence[str], source: str) -> str:
    says = " ".join(_says(step))
    return (
        f'<tr role="row" data-says="{escape(says)}" data-source="{escape(source)}">'
        f'<th role="rowheader" scope="row">{nth}</th>'
        + "".join(_cells(step, names, source))
        + "".join(
            f'<td role="cell" class="key">{escape(str(step.shown[n])) or "-"}</td>' for n in shown
        )
        + "</tr>"
    )


def _cells(step: Step, names: Sequence[str], source: str) -> Iterator[str]:
    if step.does in BETWEEN:
        text = escape(between(step))
        yield f'<td role="cell" class="across" colspan="{len(names)}">{text}</td>'
        return
    for name in names:
        if name != step.actor:
            yield '<td role="cell"></td>'
            continue
        lines = "<br>".join(f"<code>{escape(text)}</code>" for text in texts(step))
        at = f'<span class="at">{escape(source.partition(": ")[0])}</span>' if source else ""
        outcome = f'<span class="told">gets {escape(step.outcome)}</span>' if step.outcome else ""
        yield f'<td role="cell" data-who="{name}">{lines}{at}{outcome}</td>'


def _says(step: Step) -> Iterator[str]:
    """Yield a sentence, for screen readers."""
    if step.does in BETWEEN:
        yield between(step)
        return
    yield f"{step.actor}: {'; '.join(texts(step))}."
    if step.outcome:
        yield f"It gets {step.outcome}."


def _source(spot: SourceLine | None) -> str:
    """Return `bank.py, line 3: redis.set(…)`."""
    if spot is None:
        return ""
    path, line = spot
    return f"{Path(path).name}, line {line}: {linecache.getline(path, line).strip():.100}"
