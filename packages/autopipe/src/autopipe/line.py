"""How threads share one connection: flat combining.

Each thread queues its call. Whoever finds no leader leads: it sends all that waits in one packet,
reads the replies in order and wakes each thread with its own; meanwhile others queue up for the
next packet. With its own reply there, it hands over to the first that waits. So there is no thread
beside those that ask.

Nothing is sent twice: a call leaves the queue before it is written, and never comes back.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import redis

from autopipe.call import PENDING, Call
from autopipe.wire import NOTHING, Wire, opened

MOST_CALLS = 128  # of a packet: a thread waits for the replies of all those before its own
MOST_BYTES = 65_536  # of a packet of several
# A packet that takes so long (it is synced, or the way is long) is worth to wait for its crowd, for
# half of that time.
SLOW_S = 0.0005
MOST_PATIENCE_S = 0.002

NOT_SENT = "Timeout: the command was not sent"
IN_DOUBT = "Timeout: the command was sent, whether it was done is unknown"
INTERRUPTED = (
    "The thread that read for all was interrupted; whether the command was done is unknown"
)


class Line:
    """Threads in line for one connection."""

    def __init__(self, make_connection: Callable[[], Any]) -> None:
        """It gives one of redis-py's, which need not be connected."""
        self._make_connection = make_connection
        self.forget()
        _lines.add(self)

    def forget(self) -> None:
        """Begin anew, as a forked child must: its parent's threads and connection are not here."""
        self.mutex = threading.Lock()  # who leads, who waits, who has left
        self.leader: Call | None = None
        self.waiting: deque[Call] = deque()
        self.sent: deque[Call] = deque()  # whose replies are to come, in order; for the leader
        self.connection: Any = None
        self.wire: Wire | None = None  # while it is open
        self.used = 0.0  # time.monotonic() of the last packet
        self.took = 0.0  # s, until its last reply
        self.crowd = 1  # calls in it: as many are likely to come again
        self.gathers: Call | None = None  # a leader, until the crowd is there

    def ask(self, call: Call, timeout: float) -> None:
        """Until `call` has its reply, or for `timeout` seconds (-1: for ever).

        The reply is an exception where there was none. Wherever the thread is interrupted, the
        others go on: the second `finally` is for one that was interrupted in the first.
        """
        try:
            try:
                if self._queue(call, timeout):
                    self._lead(call)
            finally:
                if call.reply is PENDING or self.leader is call:
                    self._leave(call)
        finally:
            if self.leader is call:
                self._leave(call)

    def _queue(self, call: Call, timeout: float) -> bool:
        """Wait for the reply, or until it is this one's turn to lead: True."""
        with self.mutex:
            self.waiting.append(call)
            if self.leader is None:
                self.leader = call
                return True
            if self.gathers and len(self.waiting) >= self.crowd:
                _wake(self.gathers)
                self.gathers = None
        while call.woken.acquire(timeout=timeout) and call.reply is PENDING:
            with self.mutex:
                if self.leader is call:
                    return True
        return False

    def close(self) -> None:
        """Close the connection, unless somebody uses it; the next call opens it again."""
        with self.mutex:
            if self.leader is None:
                self._hang_up()

    def _lead(self, call: Call) -> None:
        """Until it has its reply, or it is too late for this one: others may have time left."""
        try:
            while call.reply is PENDING:
                wire = self.wire
                if not (self._read(wire, call) if wire and self.sent else self._send(call)):
                    break
        except redis.RedisError as error:
            self._break(error)
        except BaseException:  # anywhere: who knows what was written, or read
            self._break(redis.ConnectionError(INTERRUPTED))
            raise

    def _send(self, leader: Call) -> bool:
        """The next packet. False: too late for the leader."""
        if len(self.waiting) < self.crowd and self.took > SLOW_S:
            self._gather(leader)
        try:
            wire = self._connected(leader)
        except redis.TimeoutError:
            return False
        except redis.RedisError as error:  # for all that wait: there is no connection
            with self.mutex:
                self._fail(self.waiting, error)
            return False
        self.used = time.monotonic()
        if self.used > leader.deadline:
            return False
        with self.mutex:
            packet = self._next_packet()
        self.crowd = len(self.sent)
        wire.send(packet, leader.deadline)
        return True

    def _gather(self, leader: Call) -> None:
        """Those who have just been answered are about to ask again: in this packet, not the next.

        Else every other packet has one call, of who led the last, and each of them costs a sync.
        """
        with self.mutex:
            self.gathers = leader
        leader.woken.acquire(timeout=min(self.took / 2, MOST_PATIENCE_S))
        with self.mutex:
            self.gathers = None

    def _connected(self, leader: Call) -> Wire:
        """Opened anew where the server has hung up meanwhile: nothing was sent, so no resend.

        Before each packet: one more system call for many commands, and whoever comes first after a
        restart is not the one who finds out.
        """
        wire = self.wire
        if wire and wire.open and wire.idle():
            return wire
        self._hang_up()
        self.connection = self.connection or self._make_connection()
        self.wire = opened(self.connection, leader.deadline)
        return self.wire

    def _next_packet(self) -> bytes:
        parts: list[bytes] = []
        size = 0
        while self.waiting and len(parts) < MOST_CALLS:
            call = self.waiting[0]
            size += len(call.packed)
            if parts and size > MOST_BYTES:
                break
            if call.awaited:
                self.sent.append(call)
                parts.append(call.packed)
            self.waiting.popleft()  # as last: interrupted, it stands in both, and none is lost
        return b"".join(parts)

    def _read(self, wire: Wire, leader: Call) -> bool:
        """The replies that have come. False: none did, and it is too late for the leader."""
        if not wire.receive(leader.deadline):
            return False
        sent = self.sent
        while sent and (reply := wire.reply()) is not NOTHING:
            call = sent[0]
            call.reply = reply
            if call is not leader:
                call.woken.release()
            sent.popleft()
        if not sent:
            self.took = time.monotonic() - self.used
        return True

    def _break(self, error: redis.RedisError) -> None:
        """The connection is of no use any more: all that was sent is in doubt, each for itself."""
        self._hang_up()
        self._fail(self.sent, error)

    def _hang_up(self) -> None:
        wire, self.wire = self.wire, None
        if wire:
            wire.close()

    def _fail(self, calls: deque[Call], error: redis.RedisError) -> None:
        while calls:
            call = calls[0]
            if call.reply is PENDING:
                call.reply = type(error)(*error.args)  # its own: threads add their tracebacks
            _wake(call)
            calls.popleft()

    def _leave(self, call: Call) -> None:
        """Without a reply, or from the lead, to the first that is left."""
        with self.mutex:
            call.gone = True
            if call.reply is PENDING:
                call.reply = redis.TimeoutError(NOT_SENT if call in self.waiting else IN_DOUBT)
            if self.leader is not call:
                return
            self.gathers = None
            if self.sent and (self.wire is None or not any(one.awaited for one in self.sent)):
                self._break(redis.ConnectionError(INTERRUPTED))  # nobody waits for these
            first = next((one for one in (*self.sent, *self.waiting) if one.awaited), None)
            if first:
                _wake(first)
            self.leader = first


def _wake(call: Call) -> None:
    with suppress(RuntimeError):  # it is awake
        call.woken.release()


_lines: weakref.WeakSet[Line] = weakref.WeakSet()


def _forget_all() -> None:
    for line in _lines:
        line.forget()


os.register_at_fork(after_in_child=_forget_all)
