"""Stories of the pages in docs/locks: for each recipe how all goes well, and how it fails."""

from __future__ import annotations

from tests.integration.locks import flawed_locks, queue_story
from tests.integration.locks.story import Story, Telling


def in_turn(story: Story) -> None:
    """B comes while A is inside, waits, and finds the shelf empty."""
    a, b = story.buyer("A"), story.buyer("B")
    a.takes()
    b.takes()
    a.sells()
    a.leaves()
    b.takes()
    b.reads()
    b.leaves()


def holder_dies(story: Story) -> None:
    a, b = story.buyer("A"), story.buyer("B")
    a.takes()
    a.says("dies")
    story.passes(3600, "the lock has no end")
    b.takes()


def dies_before_expire(story: Story) -> None:
    a, b = story.buyer("A"), story.buyer("B")
    a.dies_before("EXPIRE")
    a.takes()
    story.passes(3600, "the lock never got an end")
    b.takes()


def outlives_lease(story: Story) -> None:
    a, b = story.buyer("A"), story.buyer("B")
    a.takes()
    a.reads()
    story.passes(10, "A is still at work, its lease is over")
    b.takes()
    b.sells()
    a.writes()
    a.leaves()


def deletes_anothers(story: Story) -> None:
    """A has sold in time, and only its release is late."""
    story.restock(2)
    a, b, c = story.buyer("A"), story.buyer("B"), story.buyer("C")
    a.takes()
    a.sells()
    story.passes(10, "A is held up before it leaves")
    b.takes()
    b.reads()
    a.leaves()
    c.takes()
    c.reads()
    b.writes()
    c.writes()


def clock_is_ahead(story: Story) -> None:
    a, b = story.buyer("A"), story.buyer("B", ahead=12)
    a.takes()
    a.reads()
    b.takes()
    b.sells()
    a.writes()
    a.leaves()


def deletes_a_new_one(story: Story) -> None:
    """Z died long ago. B read Z's lock before A took it over, and deletes it after that."""
    a, b, z = story.buyer("A"), story.buyer("B"), story.buyer("Z")
    z.takes()
    z.says("dies")
    story.passes(12, "Z's stamp has passed")
    b.before("DEL", a.takes)
    b.takes()
    a.reads()
    b.sells()
    a.writes()


def renewed(story: Story) -> None:
    a, b = story.buyer("A"), story.buyer("B")
    a.takes()
    a.reads()
    for _ in range(3):
        story.passes(4, "A is still at work")
        a.renews()
    b.takes()
    a.writes()
    a.leaves()


def stands_still(story: Story) -> None:
    a, b = story.buyer("A"), story.buyer("B")
    a.takes()
    a.reads()
    story.passes(10, "A's process is frozen, its renewal too")
    b.takes()
    b.sells()
    b.leaves()
    a.renews()
    a.writes()


def numbered(story: Story) -> None:
    story.shows("lock:fence")
    in_turn(story)


def numbered_in_vain(story: Story) -> None:
    story.shows("lock:fence")
    outlives_lease(story)


def refused(story: Story) -> None:
    """Like mode `fenced`: A is overtaken, and the store refuses its write."""
    story.wide = False
    story.shows("seen")
    a, b = story.buyer("A"), story.buyer("B")
    a.takes()
    a.reads_fenced()
    story.passes(10, "A is still at work, its lease is over")
    b.takes()
    b.reads_fenced()
    a.writes_fenced()
    b.writes_fenced()
    b.leaves()
    a.leaves()


def in_one_column(telling: Telling) -> Telling:
    def told(story: Story) -> None:
        story.wide = False
        telling(story)

    return told


def a_master_forgets(story: Story) -> None:
    a, b = story.buyer("A"), story.buyer("B")
    a.cut_off("3: SET")
    a.takes()
    a.reads()
    story.forgets(2, "master 2 restarts and has forgotten its locks")
    b.takes()
    b.sells()
    a.writes()


def one_after_the_other(story: Story) -> None:
    """The only case in which an unconditional SETEX works: B comes when A has left."""
    a, b = story.buyer("A"), story.buyer("B")
    a.takes()
    a.sells()
    a.leaves()
    b.takes()
    b.reads()


def asks_nobody(story: Story) -> None:
    a, b = story.buyer("A"), story.buyer("B")
    a.takes()
    a.reads()
    b.takes()
    b.sells()
    a.writes()


def renewed_for_ever(story: Story) -> None:
    a = story.buyer("A")
    a.takes()
    a.sells()
    a.leaves()
    for _ in range(3):
        story.passes(8, "A has left")
        a.does_what_is_due()


# Recipe -> block of its page -> its story.
STORIES: dict[str, dict[str, Telling]] = {
    "setnx": {
        "good": in_turn,
        "fails": holder_dies,
        "unchecked": flawed_locks.nobody_looks,
        "no_token": flawed_locks.by(flawed_locks.NoToken, flawed_locks.taken_for_dead),
    },
    "setnx_expire": {
        "good": in_turn,
        "fails": dies_before_expire,
        "get_then_set": flawed_locks.by(flawed_locks.GetThenSet, flawed_locks.both_find_it_free),
        "never_released": flawed_locks.by(
            flawed_locks.BytesAgainstStr, flawed_locks.never_released
        ),
        "no_exec": flawed_locks.no_exec,
    },
    "lease": {"good": in_turn, "fails": outlives_lease},
    "unowned": {"good": in_turn, "fails": deletes_anothers},
    "getset": {
        "good": in_turn,
        "fails": clock_is_ahead,
        "nobody_there": flawed_locks.by(flawed_locks.NobodyThere, flawed_locks.leaves_in_between),
    },
    "del_takeover": {"good": in_turn, "fails": deletes_a_new_one},
    "watchdog": {"good": renewed, "fails": stands_still},
    "watchdog_any": {
        "good": one_after_the_other,
        "fails": asks_nobody,
        "for_ever": renewed_for_ever,
    },
    "fenced": {"good": numbered, "fails": numbered_in_vain, "checked": refused},
    "db_unique": {"good": in_one_column(in_turn), "fails": in_one_column(outlives_lease)},
    "queue": {
        "good": queue_story.shown(queue_story.called),
        "passed": queue_story.shown(queue_story.passed_over),
        "fails": queue_story.shown(stands_still),
        "fused": queue_story.shown(queue_story.too_late),
    },
    "redlock": {"good": in_turn, "fails": a_master_forgets},
}

# Recipe -> why its page's timelines are not played.
DRAWN_BY_HAND = {"zookeeper": "its requests go over connections and threads of kazoo's own"}
