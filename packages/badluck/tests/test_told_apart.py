"""Two histories are one only if the code cannot tell them apart: A keeps x in different places."""

from __future__ import annotations

from pathlib import Path

import pytest
from badluck.explorer import Explorer
from badluck.faults import Faults
from badluck.sandbox.program import Program
from test_merging import merged_and_not

BOTH = """
def run(r, name):
    if name == "B":
        r.set("x", "{second}")
        return
    a(r)
"""
KEPT = {
    "in a cache": """
import functools
@functools.lru_cache
def price(r):
    return r.get("x")
def a(r):
    price(r)
    r.get("y")
    r.set("out", price(r) or b"none")
""",
    "in which class it is": """
class Dear:
    price = 7
class Cheap:
    price = 1
def a(r):
    kind = Dear if r.get("x") else Cheap
    r.get("y")
    r.set("out", kind.price)
""",
    "in the type of a number": """
import json
def a(r):
    x = json.loads(r.get("x") or "0")
    r.get("y")
    r.set("out", repr(x))
""",
    "deep inside": """
def a(r):
    x = [[[[[[[[r.get("x")]]]]]]]]
    r.get("y")
    r.set("out", repr(x))
""",
    "in a default": """
def a(r):
    f = lambda n=r.get("x"): n
    r.get("y")
    r.set("out", repr(f()))
""",
    "in a function's attribute": """
def a(r):
    def f(): pass
    f.seen = r.get("x")
    r.get("y")
    r.set("out", repr(f.seen))
""",
    "in a client": """
def a(r):
    r.seen = r.get("x")
    r.get("y")
    r.set("out", repr(r.seen))
""",
    "in a name that begins with __": """
__seen = None
def a(r):
    global __seen
    __seen = r.get("x")
    r.get("y")
    r.set("out", repr(__seen))
""",
    "in a number of a kind of its own": """
class Money(int): pass
def a(r):
    x = Money(1 if r.get("x") else 2)
    r.get("y")
    r.set("out", int(x))
""",
    "in a text of a kind of its own": """
class Name(str): pass
def a(r):
    x = Name("there" if r.get("x") else "not")
    r.get("y")
    r.set("out", str(x))
""",
    "in an attribute of a list of a kind of its own": """
class Seats(list): pass
def a(r):
    x = Seats()
    x.seen = r.get("x")
    r.get("y")
    r.set("out", repr(x.seen))
""",
    "in a slot that was inherited": """
class Slim:
    __slots__ = ("seen",)
class Wide(Slim): pass
def a(r):
    x = Wide()
    x.seen = r.get("x")
    r.get("y")
    r.set("out", repr(x.seen))
""",
    "in the type of a key": """
def a(r):
    x = {True: 0} if r.get("x") else {1: 0}
    r.get("y")
    r.set("out", repr(x))
""",
    "in how many of a set are alike": """
class Seat: pass
def a(r):
    x = {Seat(), Seat()} if r.get("x") else {Seat()}
    r.get("y")
    r.set("out", len(x))
""",
    "in a class in a class": """
class Shop:
    class Till:
        seen = None
def a(r):
    Shop.Till.seen = r.get("x")
    r.get("y")
    r.set("out", repr(Shop.Till.seen))
""",
    "in what it does not pickle": """
class Shy:
    def __getstate__(self): return {}
def a(r):
    x = Shy()
    x.seen = r.get("x")
    r.get("y")
    r.set("out", repr(x.seen))
""",
    "in which of two it is": """
def a(r):
    one = []
    other = one if r.get("x") else []
    r.get("y")
    one.append(1)
    r.set("out", len(other))
""",
}


@pytest.mark.parametrize("kept", KEPT.values(), ids=KEPT)
def test_what_is_kept(kept: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kept.py"
    path.write_text(kept + BOTH.format(second="0.0"))
    merged, apart = merged_and_not(path, Faults(), monkeypatch)
    assert merged == apart
    assert len(apart) == 2, "x was there, or not yet"


def test_an_object_of_ones_own_class_is_the_same_in_every_history(tmp_path: Path) -> None:
    """Each history imports the modules again, and so makes the classes again."""
    path = tmp_path / "kept.py"
    path.write_text(
        "class Shop:\n    def __init__(self, r):\n        self.r = r\n"
        "    def sell(self):\n        self.r.get('x')\n        self.r.get('y')\n"
        "def run(r, name):\n    Shop(r).sell() if name == 'A' else r.set('x', 1)\n"
    )
    assert Explorer(Program(path), 2).explore(Faults()).states == 3 * 2
