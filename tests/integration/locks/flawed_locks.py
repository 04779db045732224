"""Locks with the flaws that tutorials have and our recipes repair, and their stories.

They are broken on purpose, and only for pages and tests. Each lock differs in one flaw from the
recipe on whose page it is shown.
"""

from __future__ import annotations

from app.locks.getset import GetSet
from app.locks.handle import Handle
from app.locks.setnx_expire import SetNxExpire
from tests.integration.locks.story import Story, Telling


class NoToken(Handle):
    """SETNX to take it, DEL to release it: no token says whose it is (of `setnx`)."""

    name = "no_token"
    exhibit = True
    cost = (2, 2)
    tutorials = (1,)

    def attempt(self) -> bool:
        return bool(self.client.setnx(self.key, 1))

    def free(self) -> bool:
        return bool(self.client.delete(self.key))


class GetThenSet(SetNxExpire):
    """Looks whether it is free, then takes it: two commands where SETNX is one (of its page)."""

    name = "get_then_set"

    def attempt(self) -> bool:
        if self.store.get(self.key):
            return False
        self.store.set(self.key, self.token)
        self.store.expire(self.key, int(self.lease_s))
        return True


class BytesAgainstStr(SetNxExpire):
    """Its release compares what the server says, bytes, with its token, a str (of its page)."""

    name = "bytes_against_str"

    def delete_if_mine(self) -> bool:
        with self.store.pipeline(transaction=True) as pipe:
            pipe.watch(self.key)
            found: object = pipe.get(self.key)
            if found == self.token:
                pipe.multi()
                pipe.delete(self.key)
                pipe.execute()
                return True
            pipe.unwatch()
            return False


class NobodyThere(GetSet):
    """Reads the stamp as if the lock were always held (of `getset`)."""

    name = "nobody_there"

    def take_over(self, now: int, stamp: int) -> bool:
        if now <= int(self.client.get(self.key)):
            return False
        return now > int(self.client.getset(self.key, stamp))


def by(recipe: type[Handle], telling: Telling) -> Telling:
    """A story of a lock with a tutorial's flaw, instead of its page's own recipe."""

    def told(story: Story) -> None:
        story.recipe = recipe
        telling(story)

    return told


def nobody_looks(story: Story) -> None:
    """Each buyer is alone inside, and none checks whether anything is left."""
    for buyer in (story.buyer("A"), story.buyer("B")):
        buyer.takes()
        buyer.looks()
        buyer.writes()
        buyer.leaves()


def taken_for_dead(story: Story) -> None:
    story.restock(2)
    a, b, c = story.buyer("A"), story.buyer("B"), story.buyer("C")
    a.takes()
    a.sells()
    story.deletes_lock("A seems to be dead, and an operator deletes the lock")
    b.takes()
    b.reads()
    a.leaves()
    c.takes()
    c.reads()
    b.writes()
    c.writes()


def both_find_it_free(story: Story) -> None:
    a, b = story.buyer("A"), story.buyer("B")
    a.before("SET", b.takes)
    a.takes()
    a.reads()
    b.sells()
    a.writes()


def never_released(story: Story) -> None:
    story.restock(2)
    a, b = story.buyer("A"), story.buyer("B")
    a.takes()
    a.sells()
    a.leaves()
    b.takes()
    story.passes(10, "it was not released")
    b.takes()
    b.sells()
    b.leaves()


def no_exec(story: Story) -> None:
    a, b = story.buyer("A"), story.buyer("B")
    a.takes()
    a.sells_without_exec()
    b.takes()


def leaves_in_between(story: Story) -> None:
    story.restock(2)
    a, b = story.buyer("A"), story.buyer("B")
    a.takes()

    def a_sells() -> None:
        a.sells()
        a.leaves()

    b.before("GET", a_sells)
    try:
        b.takes()
    except TypeError:  # int() of None
        b.says("dies of a TypeError")
