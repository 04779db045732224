"""Where coroutines wait: two states are one only if the code cannot tell them apart.

What A knows between two answers is kept in a different place in each case; B changes what A reads.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from badluck.actor import process_patches
from badluck.actor.actor import Code
from badluck.actor.async_connection import call
from badluck.actor.connection import client
from badluck.faults import Faults
from badluck.frames import fingerprint
from badluck.frames.operand_stack import known_awaits
from badluck.search import automaton
from badluck.search.automaton import Automaton
from badluck.target import EPOCH
from test_merging import ended, merged_and_not

BEFORE = """
import asyncio, contextlib, contextvars
from types import SimpleNamespace

async def run(r, name):
    return await (a(r) if name == "A" else b(r))

async def b(r):
    await r.incr("k")
    await r.incr("k")

async def num(r, key="k"):
    return int(await r.get(key) or 0)
"""
IN_AN_OUTER_COROUTINE = """
async def a(r):
    seen = await num(r)
    await inner(r)
    return seen
async def inner(r):
    await r.get("x")
"""
ON_THE_STACK = """
async def a(r):
    return await num(r) + await num(r, "x")
"""
IN_AN_ATTRIBUTE_ON_THE_STACK = """
async def a(r):
    box, told = SimpleNamespace(n=0), []
    async def one():
        await r.get("z")
        told.append(box.n + await num(r, "x"))
    async def other():
        await r.get("y")
        box.n = 1
    await asyncio.gather(one(), other())
    return told
"""
IN_A_TASK = """
async def a(r):
    seen, done = await num(r), asyncio.Event()
    async def later(value):
        await done.wait()
        await r.set("n", value)
    task = asyncio.create_task(later(seen))
    del seen
    await r.get("x")
    done.set()
    await task
"""
IN_WHETHER_THERE_IS_A_TASK = """
async def a(r):
    if await num(r):
        asyncio.create_task(asyncio.Event().wait())
    await r.get("x")
    return len(asyncio.all_tasks())
"""
IN_A_TIMER = """
async def a(r):
    told = []
    loop = asyncio.get_running_loop()
    loop.call_later(20 if await num(r) else 10, told.append, 1)
    await r.get("x")
    loop.call_later(15, told.append, 2)
    await asyncio.sleep(30)
    return told
"""
IN_WHAT_A_TIMER_DOES = """
async def a(r):
    told = []
    asyncio.get_running_loop().call_later(10, told.append, await num(r))
    await r.get("x")
    await asyncio.sleep(30)
    return told
"""
IN_A_FUTURE = """
async def a(r):
    future = asyncio.get_running_loop().create_future()
    future.set_result(await num(r))
    await r.get("x")
    return future.result()
"""
IN_A_CONTEXT_VARIABLE = """
seen = contextvars.ContextVar("seen")
async def a(r):
    seen.set(await num(r))
    await r.get("x")
    return seen.get()
"""
IN_A_QUEUE = """
async def a(r):
    queue = asyncio.Queue()
    queue.put_nowait(await num(r))
    await r.get("x")
    return queue.get_nowait()
"""
IN_AN_ASYNCHRONOUS_GENERATOR = """
async def each(r):
    seen = await num(r)
    yield 0
    await r.get("x")
    yield seen
async def a(r):
    return [one async for one in each(r)]
"""
IN_AN_ASYNCHRONOUS_CONTEXT = """
@contextlib.asynccontextmanager
async def counted(r):
    seen = await num(r)
    yield
    await r.set("n", seen)
async def a(r):
    async with counted(r):
        await r.get("x")
"""
IN_WHO_WAITS_FIRST = """
async def a(r):
    told, lock = [], asyncio.Lock()
    async def one(key):
        await r.get(key)
        async with lock:
            told.append(key)
            await r.get(key)
    await asyncio.gather(one("k"), one("l"))
    return told
"""
IN_WHAT_IS_UNDER_WAY = """
async def a(r):
    try:
        await asyncio.wait_for(r.incr("n"), 5)
    except TimeoutError:
        return await num(r, "n")
    return [await one for one in asyncio.as_completed([num(r), num(r, "n")])]
"""
IN_A_PIPELINE = """
async def a(r):
    async with r.pipeline(transaction=False) as pipe:
        pipe.get("k")
        pipe.get("x")
        one, other = await pipe.execute()
    return one
"""
IN_A_CANCELLED_TASK = """
async def a(r):
    told = []
    async def stopped():
        try:
            await r.get("x")
        finally:
            told.append(await num(r))
    task = asyncio.create_task(stopped())
    if await num(r):
        task.cancel()
    await asyncio.wait([task])
    return told, task.cancelled()
"""
POLLING = """
import asyncio, contextvars
polled = contextvars.ContextVar("polled")
async def polls(r):
    queue = asyncio.Queue()
    while not await r.set("lock", "me", nx=True):
        COUNTS
"""
PROGRAMS = {
    name.lower(): code
    for name, code in list(globals().items())
    if name.startswith(("IN_", "ON_")) and isinstance(code, str)
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_who_is_taken_for_one_goes_on_alike(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"{name}.py"
    path.write_text(BEFORE + PROGRAMS[name])
    faults = Faults(pause=1) if "under_way" in name else Faults()
    merged, apart = merged_and_not(path, faults, monkeypatch)
    assert merged == apart
    assert len(merged) > 1, "it makes no difference"


def test_what_tasks_keep_on_the_stack_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "operand_stack.py"
    path.write_text(BEFORE + IN_AN_ATTRIBUTE_ON_THE_STACK)
    rightly = ended(path, Faults())
    everything = range(10_000)
    monkeypatch.setattr(fingerprint, "known_awaits", lambda _: everything)
    assert ended(path, Faults()) != rightly


def test_what_lies_below_an_await() -> None:
    async def awaits(store: object) -> None:
        await store  # type: ignore[misc]

    async def calls(store: object) -> None:
        int(await store)  # type: ignore[misc]

    async def adds(store: object) -> object:
        return store.n + await store  # type: ignore[misc, attr-defined]

    async def loops(store: object) -> None:
        for _ in [store] * 3:
            await store  # type: ignore[misc]

    known = [bool(known_awaits(one.__code__)) for one in (awaits, calls, adds, loops)]
    assert known == [True, True, False, False]


@pytest.mark.parametrize(
    "counts",
    [
        "asyncio.get_running_loop().call_later(9, print)",
        "asyncio.create_task(asyncio.Event().wait())",
        "polled.set(polled.get(0) + 1)",
        "queue.put_nowait(None)",
    ],
)
def test_a_loop_that_counts_is_none(counts: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop counts, however few of its rounds are looked at."""
    monkeypatch.setattr(automaton, "ROUNDS", 0)
    own: dict[str, Any] = {"__name__": "polling"}
    nodes = {}
    for polls in (counts, "pass"):
        exec(POLLING.replace("COUNTS", polls), own)  # noqa: S102
        work = Code(lambda _: str(call(own["polls"], [client()])))
        with process_patches.of_its_own():
            made = Automaton("A", work, EPOCH)
            at = 0
            for _ in range(3):
                at = made.move(at, 1, (None,), EPOCH).to
        nodes[polls] = len(made.nodes)
    assert nodes == {counts: 4, "pass": nodes["pass"]}
    assert nodes["pass"] <= 2
