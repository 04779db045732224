"""A schedule retold: each of its steps in a sentence, as a teacher would say it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from app.domain.fault_words import FAULT_WORDS
from app.lab.sources.buyer_actions import Deed, Place, told
from app.text import Text

TOKEN = re.compile(r"token-([A-Z])")  # the value of most locks, which names the owner

DAY = 86_400  # s


def retold(places: Sequence[Place]) -> list[str]:
    """Return a Text for each place except the first: the step that led there."""
    return [_sentence(*each) for each in _steps(places)]


def _steps(places: Sequence[Place]) -> Iterator[tuple[Place, Place, str, str]]:
    """Yield each step's places before and after, and the lock's owner before and after."""
    owner = ""
    for number, after in enumerate(places[1:]):
        before, owned = places[number], owner
        if after["shown"]["lock"] != before["shown"]["lock"]:
            token = TOKEN.match(after["shown"]["lock"])
            owner = token[1] if token else after["step"]["actor"] if after["shown"]["lock"] else ""
        yield before, after, owned, owner


def _sentence(before: Place, after: Place, owner: str, owns: str) -> str:
    step = after["step"]
    who, does = step["actor"], step["does"]
    what = ""
    if step["lines"] and who:
        commands = [line.split() for line in step["lines"]]
        answer = step["said"][-1] if step["said"] else ""
        what = told(Deed(who, step["fiber"], commands, answer, before, after, owner, owns))
    elif step["lines"]:
        what = _lasted(*step["lines"][0].split())
    sentence = _happened(does, who, what, _only_waits(before))
    if not who and owner and not owns:
        return Text("%(sentence)s Meanwhile the lock runs out.", sentence=sentence)
    if does == "crash" and who == owner:
        return Text("%(sentence)s Its lock stays behind.", sentence=sentence)
    return sentence


def _only_waits(place: Place) -> bool:
    """Return whether all that any actor could do was wait."""
    waits = (wait for actor in place["actors"] for wait in actor["waits"])
    return all(wait["vain"] or wait["does"] != "send" for wait in waits)


def _happened(does: str, who: str, what: str, waited: bool) -> str:
    """Return a sentence for `what`, an action or a duration; `waited`: all had waited before."""
    if does in FAULT_WORDS:
        return FAULT_WORDS[does].sentence(who, what)
    if does == "time" and not waited:
        return Text("%(time)s pass while a buyer sleeps.", time=what)
    if does == "time":
        return Text("%(time)s pass: all could only wait.", time=what)
    if does == "arrives":
        return Text("Only now it arrives: %(deed)s", deed=what)
    return what


def _lasted(number: str, unit: str) -> Text:
    """Return a duration, of "10.0 s" or "3 ms"."""
    if unit == "ms":
        return Text("%(ms)s ms", ms=number)
    if float(number) >= DAY:
        return Text("%(days)s days", days=int(float(number) / DAY))
    return Text("%(seconds)s s", seconds=number)
