"""After a worker's heartbeat has been stopped, no further beat comes."""

from __future__ import annotations

import threading

from app.bootstrap import Services
from app.service.metrics.meter import Meter
from app.service.worker_status import StatusReporter

RUNS_ON = ["valkey"]


def test_stop_waits_for_the_beat_under_way(services: Services) -> None:
    """Otherwise it would read the next test's store, and mark its empty items as lost."""
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
