"""Faults in the words of pages, which are translated; badluck has its own, for charts."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from app.text import Text, counted


class FaultWords(NamedTuple):
    called: Text
    field: Text  # the name of a form's number
    counted: Callable[[int], Text]
    happens: Callable[[str], Text]  # a step's name; with its duration, if it has one
    befalls: Callable[[str], Text]  # a choice: which actor it hits, or for how long
    # The step in a sentence, with its actor, and its duration or command.
    sentence: Callable[[str, str], Text]
    short: str = ""  # as `befalls`, where the actor is visible
    sends: bool = False  # a command belongs to it, which is shown before


FAULT_WORDS = {
    "crash": FaultWords(
        Text("crash"),
        Text("Crashes"),
        lambda num: counted("%(num)s crash", "%(num)s crashes", num),
        lambda _: Text("crashes, forever"),
        lambda name: Text("%(name)s crashes", name=name),
        lambda who, _: Text("%(who)s crashes and never restarts.", who=who),
        Text("crashes"),
    ),
    "pause": FaultWords(
        Text("pause"),
        Text("Pauses"),
        lambda num: counted("%(num)s pause", "%(num)s pauses", num),
        lambda time: Text("All buyers pause for %(time)s", time=time),
        lambda time: Text("All buyers pause for %(time)s", time=time),
        lambda _, time: Text("All buyers pause for %(time)s.", time=time),
    ),
    "lost": FaultWords(
        Text("lost reply"),
        Text("Lost replies"),
        lambda num: counted("%(num)s lost reply", "%(num)s lost replies", num),
        lambda _: Text("and the reply is lost"),
        lambda name: Text("%(name)s moves, reply lost", name=name),
        lambda _, deed: Text("%(deed)s The reply is lost.", deed=deed),
        Text("reply lost"),
        sends=True,
    ),
    "late": FaultWords(
        Text("late command"),
        Text("Late commands"),
        lambda num: counted("%(num)s late command", "%(num)s late commands", num),
        lambda _: Text("and gives up, while it is still under way"),
        lambda name: Text("%(name)s sends, and gives up too soon", name=name),
        lambda who, _: Text(
            "%(who)s gives up on what it has sent; that is still under way.", who=who
        ),
        Text("gives up"),
        sends=True,
    ),
    "failover": FaultWords(
        Text("failover"),
        Text("Failovers"),
        lambda num: counted("%(num)s failover", "%(num)s failovers", num),
        lambda _: Text("Failover: the new server has not heard of the last write"),
        lambda _: Text("Failover"),
        lambda *_: Text("Another server takes over, and has not heard of the last write."),
    ),
}
