"""A stampede to be watched: buyers until the parent stops them, and one line every half second.

    python -m loadtest.stampede '{"url": "http://127.0.0.1:8000", "item": "apple", "buyers": 32,
                                  "longest_s": 60, "patience_s": 10}'

The argument is a `Stampede` as JSON. Each line of the output is a JSON object with the totals of
the answers so far (see `feed.Feed.line`). SIGTERM ends it: no new purchase, and the answers to
those under way still count.
"""

from __future__ import annotations

import json
import math
import signal
import sys
from argparse import Namespace
from dataclasses import dataclass

import gevent
from gevent.event import Event
from locust.env import Environment

from loadtest.buyers import Buyer
from loadtest.feed import Feed

EVERY = 0.5  # seconds between two lines
LAST = 5  # seconds to finish, after the last answer


@dataclass(frozen=True)
class Stampede:
    """`longest_s` is its limit if it is not stopped, `patience_s` the wait for last answers."""

    url: str
    item: str
    buyers: int
    longest_s: float
    patience_s: float


def run(wanted: Stampede) -> None:
    feed = Feed()
    environment = Environment(
        user_classes=[Buyer],
        host=wanted.url,
        stop_timeout=wanted.patience_s,
        parsed_options=Namespace(item=wanted.item),
    )
    environment.events.request.add_listener(feed.collect)
    runner = environment.create_local_runner()
    over = Event()
    _end_within(wanted.longest_s + wanted.patience_s)

    def end() -> None:
        _end_within(wanted.patience_s)
        over.set()

    gevent.signal_handler(signal.SIGTERM, end)

    def say() -> None:
        # No error may reach gevent's loop. It would write a traceback to a stderr that is
        # as closed as our stdout, and then forget its next action: to stop the buyers.
        try:
            print(json.dumps(feed.line(runner.user_count)), flush=True)
        except BrokenPipeError:
            over.set()  # the parent has closed our stdout

    def say_on() -> None:
        while True:
            gevent.sleep(EVERY)
            say()

    saying = gevent.spawn(say_on)
    feed.begin()
    runner.start(wanted.buyers, spawn_rate=wanted.buyers)
    over.wait(wanted.longest_s)
    runner.stop()
    saying.kill()
    say()


def _end_within(seconds: float) -> None:
    """Let the system end this process after that time, whatever it does.

    In one case buyers bought for another hour, after all processes that could have ended them had
    been killed.
    """
    signal.alarm(math.ceil(seconds) + LAST)


if __name__ == "__main__":
    run(Stampede(**json.loads(sys.argv[1])))
