"""Who stops a worker's beats can rely on it: none comes after that."""

from __future__ import annotations

import threading

from app.bootstrap import Services
from app.service.metrics.meter import Meter
from app.service.worker_status import StatusReporter

RUNS_ON = ["valkey"]


def test_stop_waits_for_the_beat_under_way(services: Services) -> None:
    """Else it looks at the store of whoever comes next, and marks what that has emptied as lost."""
    begun, go_on = threading.Event(), threading.Event()
    beats: list[str] = []

    def beat() -> None:
        begun.set()
        go_on.wait(10)
        beats.append("over")

    reporter = StatusReporter(services.store, beat, Meter(services.settings.metrics))
    reporter.start()
    assert begun.wait(10)
    threading.Timer(0.2, go_on.set).start()
    reporter.stop()
    assert beats == ["over"]
