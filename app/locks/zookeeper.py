"""zookeeper: a place in a line, which lasts as long as its owner's session.

How       create an ephemeral, sequential node; the lowest holds; each watches the one before it
Prevents  two holders, a lock held forever by a dead holder, overtaking, polling, a herd of wakers
Breaks    a holder that stands still for longer than its session: the next one enters meanwhile
          (and a dead waiter holds up those behind it until its session has ended)
Cost      three requests, to servers of another kind; two more for each wait
Sound     while no holder stands still for longer than its session (4 s; the lease does nothing)
Taught    The second tutorial only names it as an alternative. Easily forgotten: a session also ends
          when its owner is merely frozen, and the owner does not notice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from app.locks.handle import LEASE_S, Handle, How

if TYPE_CHECKING:
    from kazoo.client import KazooClient

    from app.store.clients.zookeeper import LineNode

DIGITS = 10  # of the number at the end of a sequential node's name


class Zookeeper(Handle):
    name = "zookeeper"
    exhibit = False
    cost = (3, 3)
    tutorials = (2,)
    needs = "zookeeper"
    outlived = False  # it has no lease

    def __init__(
        self, client: KazooClient, key: str, lease_s: float = LEASE_S, **how: Unpack[How]
    ) -> None:
        super().__init__(client, key, lease_s, **how)
        from app.store.clients.zookeeper import ZooKeeper  # an extra: it may not be installed

        self.zookeeper = ZooKeeper.over(client)
        self.folder = f"/lastapple/{self.key}"
        self.token = self.clock.token()
        self.place: LineNode | None = None
        self.before = ""  # the node that this one waits for
        self.fence = 0  # rises from holder to holder, also across restarts

    def obtain(self, blocking: bool, wait_s: float | None) -> bool:
        """Take the lock: wait until the node before ours is gone."""
        deadline = None if wait_s is None else self.clock.now() + wait_s
        tries = 0
        try:
            while True:
                tries += 1
                self.counts.attempts += 1
                if self.attempt():
                    return True
                left = None if deadline is None else deadline - self.clock.now()
                if not blocking or (left is not None and left <= 0):
                    self.free()
                    return False
                self.counts.waits += tries == 1
                self.wait(left)
        except BaseException:
            # An abandoned node would hold up all nodes behind it.
            self.place = None
            self.zookeeper.forget(self.folder, self.token)
            raise

    def attempt(self) -> bool:
        if self.place is None:
            self.place = self.zookeeper.create(self.folder, self.token)
        line = self.line()
        if self.place.name not in line:  # the session has ended: back to the end of the line
            self.place, self.before = None, ""
            return False
        ahead = line[: line.index(self.place.name)]
        if ahead:
            self.before = ahead[-1]
            return False
        self.fence = self.place.zxid
        self.zookeeper.client.add_listener(self.look_at_session)
        self.look_at_session()
        return True

    def wait(self, seconds: float | None) -> None:
        """Wait until the node before ours is gone. No other client watches that node."""
        gone = self.zookeeper.watch(f"{self.folder}/{self.before}") if self.before else None
        if gone:
            self.clock.sleep(0)  # a test's clock, moved by hand, acts where its owner waits
            gone.wait(seconds)

    def free(self) -> bool:
        self.zookeeper.client.remove_listener(self.look_at_session)
        place, self.place = self.place, None
        return place is not None and self.zookeeper.delete(place)

    def owned(self) -> bool:
        """Ask the servers whether this handle holds the lock."""
        return self.place is not None and self.line()[:1] == [self.place.name]

    def locked(self) -> bool:
        """Ask the servers whether any client holds the lock."""
        return bool(self.line())

    def line(self) -> list[str]:
        """Return all nodes in line, the holder's first."""
        return sorted(self.zookeeper.get_children(self.folder), key=lambda name: name[-DIGITS:])

    def look_at_session(self, _state: str = "") -> None:
        """Note a lost session; kazoo's thread calls this. A session that is cut off counts as lost.

        The servers keep it for a while, but cannot tell a cut-off client when they end it.
        """
        if self.place and self.zookeeper.session != self.place.session:
            self.lose()
