"""Stories of the page of `queue`: buyers who stand in line until they are called."""

from __future__ import annotations

from tests.integration.locks.story import Story, Telling


def called(story: Story) -> None:
    """B stands in line while A is inside; A's release calls it."""
    a, b = story.buyer("A"), story.buyer("B")
    a.takes()

    def a_sells() -> None:
        a.sells()
        a.leaves()

    b.stands_in_line(a_sells)
    b.reads()
    b.leaves()


def too_late(story: Story) -> None:
    """Like `stands_still`, but stock and sale are sent with the lock's commands."""
    a, b = story.buyer("A"), story.buyer("B")
    a.takes_fused()
    story.passes(10, "A's process is frozen")
    b.takes_fused()
    b.leaves_fused()
    a.leaves_fused()
    a.takes_fused()
    a.leaves_fused()


def passed_over(story: Story) -> None:
    """B is next and frozen. C, behind it, gets the lock when the hand-over has timed out."""
    a, b, c = story.buyer("A"), story.buyer("B"), story.buyer("C")
    a.takes()

    def c_comes() -> None:
        c.stands_in_line(
            lambda: story.passes(1, "A is at work, B's process is frozen"),
            a.leaves,
            lambda: story.passes(0.1, "B has not taken the lock"),
        )
        c.sells()
        c.leaves()
        story.tell("", "B's process continues")

    b.stands_in_line(c_comes)
    b.reads()
    b.leaves()


def shown(telling: Telling) -> Telling:
    """Return the same story, with the line and the fencing token shown at each step."""

    def told(story: Story) -> None:
        story.wide = False
        story.shows_line()
        story.shows("{lock}:fence")
        telling(story)

    return told
