"""Messages about a saved schedule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from badluck.functions.function_target import FunctionTarget
from badluck.functions.search_process import FollowedSchedule
from badluck.report.chart import chart
from badluck.report.replay import ReplayedStep
from badluck.report.report import Finding
from badluck.report.trace import Step
from badluck.report.verdict import cost_text
from badluck.sandbox.limits import SEARCH_S
from badluck.search.names import LETTERS

INCONCLUSIVE = (
    "inconclusive, and so it fails: give it longer (seconds=, --badluck-seconds=), fewer actors or "
    "faults, or let it pass by allow_inconclusive=True"
)


def still_fails(target: FunctionTarget, finding: Finding, file: str) -> str:
    cost = cost_text(finding.cost)
    lines = (
        f"{target.name}: {finding.name.upper()}, with {cost}. {finding.explanation}",
        chart(finding.trace, LETTERS[: len(target.actors)]),
        f"{file} still breaks it: nothing else was looked at",
    )
    return "\n".join(lines)


def no_longer_fails(file: str, steps: Sequence[Step], now: FollowedSchedule) -> str:
    """Return the message for a saved schedule that does not break its test any more."""
    text = f"{file} does not break it any more"
    for nth, (then, today) in enumerate(zip(steps, now.steps, strict=False), 1):
        if then.lines != today.lines:
            was, does = "; ".join(then.lines), "; ".join(today.lines)
            return f"{text}: step {nth} was {was}, and is {does}."
    if len(now.steps) < len(steps):
        return f"{text}: step {len(now.steps) + 1} cannot be taken."
    if not now.sure:
        return f"whether {file} still breaks it could not be seen in {SEARCH_S} s."
    return f"{text}."


def not_allowed(file: str) -> str:
    return f"{file} is of faults that the test does not allow any more: it was searched without it."


def replayed(file: str, server: str, played: Sequence[ReplayedStep], finding: Finding) -> str:
    """Describe each played step, up to the first difference."""
    return "\n".join(_replayed(file, server, played, finding))


def _replayed(
    file: str, server: str, played: Sequence[ReplayedStep], finding: Finding
) -> Iterator[str]:
    many = len(finding.trace)
    if all(step.same for step in played):
        yield f"{server} did the same in all {many} steps: {finding.name.upper()}."
    elif "unknown command" in " ".join(played[-1].got.replies).lower():
        yield f"{server} does not know what step {len(played)} of {many} asks: a newer one may."
    else:
        yield (
            f"{server} did something else in step {len(played)} of {many}: the model of Redis is "
            f"wrong there. Please report it, with {file}."
        )
    for nth, (expected, got) in enumerate(((step.expected, step.got) for step in played), 1):
        same = played[nth - 1].same
        yield f"{nth:>3} {_line(expected)}: {'the same' if same else 'NOT THE SAME'}"
        if not same:
            yield f"    {server}: {_line(got)}"
            yield f"    {expected.shown} in the model, {got.shown} in {server}"


def _line(step: Step) -> str:
    does = "" if step.does == "goes" else f"({step.does}) "
    replies = f" -> {'; '.join(step.replies)}" if step.replies else ""
    outcome = f" = told {step.outcome}" if step.outcome else ""
    return f"{step.actor or 'all'} {does}{'; '.join(step.lines)}{replies}{outcome}"
