"""Workers whose purchases are counted, as processes of their own."""

from __future__ import annotations

import resource
from multiprocessing.connection import Connection

from app.bootstrap import Services
from app.config import Settings
from app.domain import Outcome, Sale
from app.service.metrics.meter import Meter


def sell(pipe: Connection, settings: Settings) -> None:
    """Run a worker of the shop that sells as often as each message says."""
    shop = Services(settings).purchase()
    pipe.send("ready")
    while True:
        for _ in range(pipe.recv()):
            shop.buy("apple", 1)
        pipe.send("sold")


def count_without_room(pipe: Connection, settings: Settings) -> None:
    """Count while no file may grow, as on a full disk; send whether the meter has given up."""
    _, most = room = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, most))
    meter = Meter(settings.metrics)
    for _ in range(3):
        meter.count("atomic", Sale(Outcome.SOLD), 0.1)
        meter.write()
    resource.setrlimit(resource.RLIMIT_FSIZE, room)  # its warning may go to a file as well
    pipe.send(meter.shut)
