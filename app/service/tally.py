"""What each worker is doing, published for the lab and for the audit's word *settling*.

Twice a second each shop worker writes one field per round into the round's hash: how many
purchases are under way, since when none has been, and how its answers so far were counted. The
counts are for looking at. The audit never takes them as evidence; it only asks whether everybody
was quiet while it read.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

import redis

from app.domain import Outcome, Round, Sale, StoreAway, records
from app.store.keys import Keys

BEAT = 0.25  # s between two beats: a worker learns of a switch, and the audit of it, in time
DEAD = 5.0  # s without a beat after which a worker counts as dead, its purchases with it

log = logging.getLogger(__name__)


@dataclass
class Post:
    """One worker's state in one round. Times are seconds since 1970, of the worker's clock."""

    in_flight: int = 0
    quiet_since: float | None = field(default_factory=time.time)  # None while in flight
    beat: float = 0.0
    left_round: bool = False  # this worker will never sell in the round again
    answers: dict[str, int] = field(default_factory=dict)
    conflicts: int = 0
    locks_lost: int = 0

    def count(self, outcome: Outcome) -> None:
        self.answers[outcome.value] = self.answers.get(outcome.value, 0) + 1

    def spoke_after(self, moment: float) -> bool:
        """Does this tell what was so at `moment`? A dead worker's last word has to do."""
        return self.left_round or self.beat >= moment or self.beat < time.time() - DEAD

    def quiet_since_before(self, moment: float) -> bool:
        """Has nothing been under way since before `moment`? A dead worker does nothing."""
        quiet = self.quiet_since is not None and self.quiet_since <= moment
        return quiet or self.beat < time.time() - DEAD


class RoundLeft(Exception):
    """The worker has left the round; look up which one runs now."""


class Tally:
    """This worker's posts, one for each round it sells in."""

    def __init__(self, store: redis.Redis, on_beat: Callable[[], None]) -> None:
        """`on_beat` runs before each beat, in the beating thread."""
        self.store = store
        self.worker = f"{os.uname().nodename}-{os.getpid()}-{os.urandom(3).hex()}"
        self.on_beat = on_beat
        self.posts: dict[str, Post] = {}  # by the name of the round's hash
        self.lock = threading.Lock()
        self.stopped = threading.Event()
        threading.Thread(target=self._beat_until_stopped, name="tally", daemon=True).start()

    def enter(self, keys: Keys) -> None:
        """Show up in a round before the first purchase in it, so that no audit overlooks us."""
        with self.lock:
            self.posts.setdefault(keys.workers, Post()).left_round = False
        self._publish(keys.workers)

    def leave(self, keys: Keys) -> None:
        """Nothing new will be sold in that round here; what is under way may still end."""
        with self.lock:
            if post := self.posts.get(keys.workers):
                post.left_round = True

    @contextmanager
    def under_way(self, keys: Keys) -> Iterator[Callable[[Sale], None]]:
        """Around one purchase. Call what it yields with the sale; no call means an error.

        Raises RoundLeft when this worker has said good-bye to the round: nothing may be sold in
        it any more.
        """
        with self.lock:
            post = self.posts.get(keys.workers)
            if post is None or post.left_round:
                raise RoundLeft
            post.in_flight += 1  # the beats go on for as long as this purchase does
            post.quiet_since = None
        ended: list[Sale] = []
        try:
            yield ended.append
        finally:
            with self.lock:
                post.in_flight -= 1
                if post.in_flight == 0:
                    post.quiet_since = time.time()
                for sale in ended:
                    if sale.outcome is not Outcome.ROUND_OVER:
                        post.count(sale.outcome)
                    post.conflicts += sale.conflicts
                    post.locks_lost += sale.lock_lost
                if not ended:
                    post.count(Outcome.ERROR)

    def stop(self) -> None:
        """No more beats. A worker that just ends needs no stop: it will count as dead."""
        self.stopped.set()

    def _beat_until_stopped(self) -> None:
        while not self.stopped.wait(BEAT):
            # Each by itself: on a cluster, one item's node may be away and the others' not.
            self._try(self.on_beat)
            for name in list(self.posts):
                self._try(partial(self._publish, name))

    @staticmethod
    def _try(deed: Callable[[], None]) -> None:
        try:
            deed()
        except (redis.RedisError, StoreAway) as error:
            log.warning("no beat, the store does not answer: %s", error)

    def _publish(self, name: str) -> None:
        with self.lock:
            post = self.posts.get(name)
            if post is None:
                return
            post.beat = time.time()
            done = post.left_round and post.in_flight == 0
            said = records.encode(replace(post, left_round=done))
            if done:
                del self.posts[name]
        self.store.hset(name, self.worker, said)


def posts(store: redis.Redis, round: Round) -> list[Post]:
    """What every worker last said of a round. Raises Unreadable for a newer version's word."""
    said = store.hvals(Keys(round.item, round.number).workers)
    return [records.decode(Post, text) for text in said]
