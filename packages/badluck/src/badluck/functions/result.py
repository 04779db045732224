"""The result of explore(): holds, fails or inconclusive, with its chart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from badluck.findings.inferred_lock_rules import OF_ANY
from badluck.functions.search_rounds import SearchRound, maximal, next_round
from badluck.report.chart import chart
from badluck.report.report import Report
from badluck.report.verdict import budget, verdict
from badluck.search.names import LETTERS


@dataclass(frozen=True)
class ExploreResult:
    """`report` is of the last searched round of the `ladder`."""

    report: Report
    ladder: Sequence[SearchRound]

    @property
    def verdict(self) -> Literal["holds", "fails", "inconclusive"]:
        if self.report.findings:
            return "fails"
        return "holds" if self.proved == list(self.ladder) else "inconclusive"

    @property
    def proved(self) -> list[SearchRound]:
        """Rounds that were searched exhaustively without a finding."""
        until = self.ladder.index(SearchRound(self.report.actors, self.report.faults))
        last = self.report.exhaustive and not self.report.findings
        return list(self.ladder[: until + last])

    @property
    def next(self) -> SearchRound | None:
        """Return the likeliest round that was not searched completely.

        None: not even two faults of any kind are left.
        """
        proved = self.proved
        return next_round(proved) if proved == list(self.ladder) else self.ladder[len(proved)]

    def assert_holds(self, allow_inconclusive: bool = False) -> None:
        """Raises AssertionError, with the whole report, when it does not hold."""
        if self.verdict == "fails" or (self.verdict == "inconclusive" and not allow_inconclusive):
            raise AssertionError(str(self))

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        report = self.report
        yield from report.causes
        if self.verdict == "inconclusive":
            yield f"{report.target.name}: nothing was found in time, and not all was looked at."
        else:
            yield verdict(report)
        if report.findings:
            yield chart(
                report.findings[0].trace,
                LETTERS[: report.actors],
                vocabulary=report.target.vocabulary,
            )
            if report.findings[0].name in OF_ANY and report.target.lock_key is None:
                yield "if that key is a claim to be kept, and no lock, say so: lock=False"
        yield from budget(report)
        if self.proved:
            yield f"proved: all orders of {'; of '.join(map(str, maximal(self.proved)))}"
        if self.next and not report.findings:
            yield f"next: {self.next}"
