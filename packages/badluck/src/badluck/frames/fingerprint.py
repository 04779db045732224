"""Fingerprint of a suspended fiber: its frames, their positions, and their variables.

Two moments of one history with equal fingerprints continue alike: so a loop that polls is seen to
be a loop. For different histories that holds only if the fingerprints are complete: `return x`
inside of try/finally keeps `x` where no variable shows it.
"""

from __future__ import annotations

import asyncio
import copyreg
import threading
import weakref
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from itertools import count
from types import FrameType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import redis.asyncio
from redis.asyncio.client import Pipeline as AsyncPipeline
from redis.asyncio.lock import Lock as AsyncLock
from redis.client import Pipeline, PubSub, PubSubWorkerThread, Redis
from redis.lock import Lock

from badluck.actor import threads
from badluck.actor.actor import Actor, Fiber
from badluck.actor.event_loop import Loop
from badluck.frames import task_fingerprint
from badluck.frames.bytecode import places
from badluck.frames.hidden_state import hides_nothing
from badluck.frames.liveness import read_later
from badluck.frames.operand_stack import known_awaits

PLAIN = frozenset((type(None), int, str, bytes))
LEAVES: dict[type, Callable[[Any], object]] = {
    bool: repr,  # equal to an int, and not the same
    float: repr,
    ModuleType: lambda module: module.__name__,
}
# The position in its code shows which of its own locks a process holds.
LOCKS = type(threading.Lock()) | type(threading.RLock())
PROXIES = (weakref.ProxyType, weakref.CallableProxyType)
CLIENTS = Redis | redis.asyncio.Redis
USUAL = vars(Redis()).keys() | vars(redis.asyncio.Redis()).keys()  # neither of them connects
CACHE = type(cache(str))
NEW = object().__reduce_ex__(4)[0]  # of what has no way of its own to be pickled
PICKLED = ("__reduce_ex__", "__reduce__", "__getstate__")
# Kinds that are compared by their attributes only, as was found out once. By the modules whose
# objects are not compared.
ORDINARY: dict[tuple[str, ...], set[type]] = defaultdict(set)
REAL_THREAD = threading.Thread  # which the search replaces later
# redis-py's own functions that continue while a client listens.
LISTENING = {
    function.__code__
    for owner, names in (
        (PubSub, ("subscribe", "psubscribe", "execute_command")),
        (PubSub, ("get_message", "parse_response", "handle_message")),
        (PubSubWorkerThread, ("run",)),
    )
    for function in (getattr(owner, name) for name in names)
}
FIGURE = "start_time"  # of theirs, by the clock
DEPTH = 60  # of objects in objects; each is looked at once
# redis-py's frames and objects hold irrelevant times and counters: their positions are enough. The
# gate's are ours.
SKIPPED = ("redis.", "badluck.")
BUT = ("redis.lock", "redis.asyncio.lock")
# But these continue to send commands, and only they know the answers so far.
KEEPING = {
    function.__code__
    for function in (Redis.transaction, Pipeline.load_scripts, Pipeline._execute_pipeline)
}


class Fingerprint(NamedTuple):
    frames: tuple[object, ...]
    complete: bool  # it shows everything that it knows
    in_order: bool = False  # the rest depends on the order of all answers


class StateHasher:
    """A converter of one fiber's values into values that compare by content."""

    def __init__(self, actor: Actor) -> None:
        code = actor.code
        self.skipped = (*SKIPPED, *code.harness)
        self.ordinary = ORDINARY[self.skipped]
        self.counters = code.counters
        self.modules = actor.modules
        self.unseen: list[type] = []  # kinds with contents that cannot be compared
        self.met: dict[int, tuple[int, object]] = {}  # numbers of the values so far, by their id
        self.stacked = False  # does a coroutine keep something on the interpreter's stack?


def fingerprint_of(fiber: Fiber) -> Fingerprint:
    """Fingerprint a waiting fiber; without frames when it has not begun or has ended."""
    frames: list[object] = []
    eye = StateHasher(fiber.actor)
    is_whole = True
    for module in fiber.actor.modules.values():
        frames.append(_globals(vars(module), eye))
    frame: FrameType | None = fiber.gr_frame
    inner: FrameType | None = None
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith((*eye.skipped, "asyncio.")) and module not in BUT:
            known = frame.f_locals if frame.f_code in LISTENING else {}
            goes_on_with = {name: value for name, value in known.items() if name != FIGURE}
            frames.append((frame.f_code, frame.f_lasti, _frozen(goes_on_with, DEPTH, eye)))
            is_whole = is_whole and frame.f_code not in KEEPING
        else:
            frames.append((frame.f_code, frame.f_lasti, _frozen(read_later(frame), DEPTH, eye)))
            is_whole = is_whole and hides_nothing(frame, inner)
        frame, inner = frame.f_back, frame
    open_loops = (loop for loop in fiber.actor.loops if not loop.is_closed())
    loops = [loop for loop in open_loops if isinstance(loop, Loop) and loop.fiber is fiber]
    eyes = [StateHasher(fiber.actor) for _ in loops]
    frames += [_of_loop(loop, own) for loop, own in zip(loops, eyes, strict=True)]
    is_whole = is_whole and not eye.unseen and not fiber.actor.loops
    return Fingerprint(tuple(frames), is_whole, any(own.stacked for own in eyes))


def _of_loop(loop: Loop, eye: StateHasher) -> object:
    """Return a loop's state; equal to no other, if not all of it can be seen."""
    try:
        fingerprint = task_fingerprint.loop_state(
            loop, lambda value: _frozen(value, DEPTH, eye), lambda frame: _of_coroutine(frame, eye)
        )
    except task_fingerprint.UnknownContents:
        return object()
    return object() if eye.unseen else fingerprint


def _of_coroutine(frame: FrameType, eye: StateHasher, depth: int = DEPTH) -> object:
    module = frame.f_globals.get("__name__", "")
    if module.startswith(eye.skipped) and module not in BUT:
        return (frame.f_code, frame.f_lasti)
    at = places(frame.f_code)[frame.f_lasti]
    eye.stacked = eye.stacked or at not in known_awaits(frame.f_code)
    return (frame.f_code, frame.f_lasti, _frozen(dict(frame.f_locals), depth, eye))


def _globals(memory: dict[str, Any], eye: StateHasher) -> object:
    """Return the contents of a module's variables, functions and classes."""
    return tuple(
        (name, _frozen(value, DEPTH, eye))
        for name, value in memory.items()
        if not (name.startswith("__") and name.endswith("__"))
    )


def _frozen(value: Any, depth: int, eye: StateHasher) -> object:
    """Return a value that compares by content; of what is not the actor's own, only its type."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind in LEAVES:
        return (kind, LEAVES[kind](value))
    if kind in eye.counters:
        return kind
    if kind in PROXIES:
        with suppress(ReferenceError):  # it is gone
            return (kind, _frozen(value.__repr__.__self__, depth, eye))
        return kind
    if isinstance(value, type) and value.__module__ not in eye.modules:
        return value
    if depth == 0:
        eye.unseen.append(kind)
        return kind
    if kind is not tuple:  # a value with two names changes for both
        if before := eye.met.get(id(value)):
            return ("as the", before[0])
        eye.met[id(value)] = len(eye.met), value  # kept meanwhile, so that its id is not reused

    def inside(part: Any) -> object:
        return part if type(part) in PLAIN else _frozen(part, depth - 1, eye)

    if kind in ITEMS:
        return (kind, *ITEMS[kind](value, inside))
    if kind in eye.ordinary:
        return _attributes(value, inside, eye)
    if kind in task_fingerprint.SUSPENDED:
        frames = task_fingerprint.suspended(
            value, inside, lambda frame: _of_coroutine(frame, eye, depth - 1)
        )
        return (kind, *frames)
    for base, contents in CONTENTS:
        if isinstance(value, base):
            return contents(value, inside, eye)
    return _opaque(value, eye) if _skipped(value, eye) else _pickled(value, inside, eye)


def _function(value: FunctionType, inside: Inside, _: StateHasher) -> object:
    cells = value.__closure__ or ()
    given = (value.__defaults__, value.__kwdefaults__, value.__dict__)
    return (value.__code__, *map(inside, given), *(inside(_content(cell)) for cell in cells))


def _class(value: type, inside: Inside, eye: StateHasher) -> object:
    held = {key: member for key, member in vars(value).items() if not key.startswith("__")}
    return (_named(value, eye), inside(held))


def _pubsub(value: PubSub, inside: Inside, eye: StateHasher) -> object:
    kind = type(value)
    if kind is not PubSub:
        eye.unseen.append(kind)  # a subclass of the user's may hold more
    return (kind, *map(inside, _subscribed(value)))


Inside = Callable[[Any], object]  # freezes a part of a value
Contents = Callable[[Any, Inside, StateHasher], object]
# A weak dict is copied first: some of it may be collected meanwhile.
ITEMS: dict[type, Callable[[Any, Inside], Iterable[object]]] = {
    **dict.fromkeys((list, tuple), lambda value, inside: map(inside, value)),
    **dict.fromkeys((set, frozenset), lambda value, inside: [_counted(map(inside, value))]),
    dict: lambda value, inside: [(inside(key), inside(it)) for key, it in list(value.items())],
    property: lambda value, inside: [inside((value.fget, value.fset, value.fdel))],
    **dict.fromkeys(
        (Pipeline, AsyncPipeline),
        lambda value, inside: map(inside, (*_flags(value), value.command_stack)),
    ),
    **dict.fromkeys((Lock, AsyncLock), lambda value, inside: [inside(_kept(value.local))]),
}
CONTENTS: tuple[tuple[type, Contents], ...] = (
    (FunctionType, _function),
    (MethodType, lambda value, inside, _: (value.__func__.__code__, inside(value.__self__))),
    (type, _class),
    (asyncio.Future, lambda value, inside, _: task_fingerprint.of_future(value, inside)),
    (PubSub, _pubsub),
    # The places of the fibers show which of them wait for it.
    (threads.FiberLock, lambda value, *_: (type(value), value.locked(), value.waiting())),
    (threads.FiberLocal, lambda value, inside, _: (type(value), inside(_kept(value)))),
)


def _counted(members: Iterable[object]) -> object:
    """Count the members, so that two equal ones differ from one."""
    return frozenset(Counter(members).items())


def _flags(pipeline: Any) -> tuple[bool, bool]:
    """Does it wait for what it sends, and send it as a transaction?"""
    return pipeline.watching, pipeline.explicit_transaction


def _opaque(value: Any, eye: StateHasher) -> object:
    if isinstance(value, CLIENTS) and vars(value).keys() - USUAL:
        eye.unseen.append(type(value))  # the code keeps something there
    return type(value)


def _named(kind: type, eye: StateHasher) -> object:
    """Return a class by its name: each history imports the modules again."""
    home = eye.modules.get(kind.__module__)
    holder: Any = home
    for name in kind.__qualname__.split(".") if home else ():
        holder = vars(holder).get(name) if isinstance(holder, type | ModuleType) else None
    return (kind.__module__, kind.__qualname__) if home and holder is kind else kind


def _kept(local: Any) -> object:
    return local.everybodys() if isinstance(local, threads.FiberLocal) else vars(local)


def _subscribed(value: PubSub) -> Iterator[object]:
    """Yield its subscriptions, their handlers, and messages that it has not delivered."""
    line = value.connection  # its answers are values of the model: compared by their text
    yield line and (line.is_connected, repr(line.answers))
    yield value.ignore_subscribe_messages
    yield value.channels, value.pending_unsubscribe_channels
    yield value.patterns, value.pending_unsubscribe_patterns
    yield value.subscribed_event


def _skipped(value: Any, eye: StateHasher) -> bool:
    kind = type(value)
    if isinstance(value, REAL_THREAD):  # of redis-py's own kind
        return False
    if kind.__module__.startswith(eye.skipped):
        return kind.__module__ != threads.__name__
    return isinstance(value, CLIENTS | LOCKS)


def _pickled(value: Any, inside: Callable[[Any], object], eye: StateHasher) -> object:
    """Return an object's pickled parts, and its variables whatever its class says."""
    kind = type(value)
    if kind is count:  # from Python 3.14 on no iterator of that module can be pickled
        return repr(value)
    if kind is CACHE and value.cache_info().currsize:
        eye.unseen.append(kind)
    try:
        parts = value.__reduce_ex__(4)
    except Exception:  # noqa: BLE001  a user's class raises it
        eye.unseen.append(kind)
        return kind
    if isinstance(parts, str):
        return (kind, parts)
    if _is_ordinary(kind) and value.__class__ is kind:
        if kind.__module__ not in eye.modules:  # each history makes those again
            eye.ordinary.add(kind)
        return _attributes(value, inside, eye)
    made, given, *rest = parts
    held = [*(given[1:] if made is NEW else (made, given)), object.__getstate__(value)]
    held += [list(part) if isinstance(part, Iterator) else part for part in rest]
    return (_named(kind, eye), *map(inside, held))


def _is_ordinary(kind: type) -> bool:
    """Is it pickled as most objects are, by its attributes?"""
    return (
        all(getattr(kind, name) is getattr(object, name) for name in PICKLED)
        and not any(hasattr(kind, name) for name in ("__getnewargs__", "__getnewargs_ex__"))
        and not issubclass(kind, list | dict)
        and kind not in copyreg.dispatch_table
    )


def _attributes(value: Any, inside: Callable[[Any], object], eye: StateHasher) -> object:
    return (_named(type(value), eye), inside(object.__getstate__(value)))


def _content(cell: Any) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # not set yet
        return None
