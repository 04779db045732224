"""The bar counts finished steps and stretches when there are more than expected."""

from __future__ import annotations

import pytest

from loadtest.progress import Steps


def test_a_step_counts_when_it_is_finished(capsys: pytest.CaptureFixture[str]) -> None:
    with Steps() as steps:
        steps.expect(2)
        for name in ("no-op", "atomic, cost", "watch, by wrk"):
            with steps.step(name):
                (task,) = steps.bar.tasks
                assert (task.description, task.completed) == (name, steps.done)
        assert (task.completed, task.total) == (3, 3)
    assert capsys.readouterr().out == ""  # standard output is for the document


def test_a_step_that_fails_is_not_finished() -> None:
    with Steps() as steps:
        with pytest.raises(ZeroDivisionError), steps.step("cost"):
            raise ZeroDivisionError
        assert steps.done == 0
