"""Data flow from replies to variables, through the source's operations.

`stock = int(redis.get("stock"))` holds what was read under `stock`. The source shows in which
variable the value of a call or of another variable ends, and through which operations. The result
of these operations on the text is then compared with the variable's value.
"""

from __future__ import annotations

import ast
import builtins
import json
import linecache
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from types import CodeType, FrameType
from typing import Any, NamedTuple

CONVERSIONS = ("bytes", "float", "int", "list", "map", "str", "tuple")
METHODS = ("decode", "get", "strip")  # of a text, or of parsed JSON
ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
SAME = (ast.Await, ast.BoolOp, ast.IfExp, ast.List, ast.Starred, ast.Tuple, ast.keyword)

MAX_FLOWS = 100  # of one length
LONGEST = 4  # paths from variable to variable in one step: raw = …; raw = int(raw); left = raw - 1

Step = Callable[[Any], Iterable[Any]]  # possible results of one operation on a value
Position = tuple[int | None, ...]  # first and last line, first and last column


@dataclass
class Reading:
    """The text that was read under a key in step `since`, from 1, and whether it is still current.

    `old`: another actor has written another value since. `by` names that actor; it is "" for a
    change without an actor: a lease that ends, a failover.
    """

    key: bytes
    text: bytes
    since: int
    old: bool = False
    by: str = ""


class HeldReading(NamedTuple):
    """A variable that holds a reading: its value, or one in a container."""

    reading: Reading
    value: Any


class Argument(NamedTuple):
    """An argument of a call, by its place or its keyword."""

    call: Position
    place: int | str


Variable = str | Argument


class Flow(NamedTuple):
    """The value of an expression ends in a variable, or is an argument."""

    variable: Variable
    steps: tuple[Step, ...] = ()

    def held(self, start: HeldReading, variables: Mapping[Variable, Any]) -> HeldReading | None:
        """Return the variable's reading, if the steps derive its value from the start's."""
        current = variables.get(self.variable)
        made = [start.value]
        for step in self.steps:
            made = [result for value in made for result in _tried(step, value)]
        made += [part for value in made for part in _parts(value)]
        candidates = (current, *_parts(current))
        held = (value for value in made if any(_same(value, each) for each in candidates))
        return next((start._replace(value=value) for value in held), None)


class Source(NamedTuple):
    """The paths of values in one file."""

    calls: dict[Position, list[Flow]]  # from a call, or what is awaited
    names: list[tuple[int, str, Flow]]  # from a variable in a line

    def onward(self, flow: Flow, code: CodeType) -> Iterator[Flow]:
        """Yield a flow, and the flows from its variable in the same function."""
        lines = [line for _, _, line in code.co_lines() if line]
        flows = [flow]
        for _ in range(LONGEST):
            yield from flows
            flows = [
                Flow(after.variable, before.steps + after.steps)
                for before in flows
                for line, name, after in self.names
                if name == before.variable and min(lines) <= line <= max(lines)
            ][:MAX_FLOWS]


class Readings:
    """Readings in the variables of one actor's functions."""

    def __init__(self) -> None:
        self.held: dict[tuple[int, CodeType], dict[Variable, list[HeldReading]]] = {}
        self.sites: dict[tuple[int, CodeType], Position] = {}  # of the calls that wait

    def look(self, frames: Sequence[FrameType], read: Sequence[Reading]) -> dict[Variable, Reading]:
        """Return the innermost frame's variables that hold a reading, after a step.

        `frames` are the suspended functions, the outermost first; `read` are the step's readings.
        (No frame is kept until the next step: objects of a function must end with it.)
        """
        known, sites = self.held, self.sites
        self.held, self.sites = {}, {}
        given, held = dict[str, list[HeldReading]](), dict[Variable, list[HeldReading]]()
        texts = [HeldReading(reading, form) for reading in read for form in _forms(reading.text)]
        for depth, frame in enumerate(frames):
            source, at = _source(frame.f_code.co_filename), (depth, frame.f_code)
            before = [*known.get(at, {}).items(), *given.items()]
            begun = [(Flow(name), some) for name, some in before]
            begun += [(flow, texts) for flow in source.calls.get(sites.get(at, ()), ())]
            self.sites[at] = _position(frame)
            passed = _passed(self.sites[at], *frames[depth + 1 : depth + 2])
            variables = frame.f_locals | {
                argument: value for argument, (_, value) in passed.items()
            }
            self.held[at] = held = {}
            for start, some in begun:
                for flow in source.onward(start, frame.f_code) if some else ():
                    _note(held, flow.variable, [flow.held(reading, variables) for reading in some])
            given = {name: held[key] for key, (name, _) in passed.items() if key in held}
        return {name: some[0].reading for name, some in held.items()}

    def all(self) -> list[Reading]:
        """Return each reading that any variable holds, once."""
        held = (each for named in self.held.values() for some in named.values() for each in some)
        return list({id(each.reading): each.reading for each in held}.values())


def _passed(call: Position, *inner: FrameType) -> dict[Argument, tuple[str, Any]]:
    """Return the arguments of the call to the next frame's function: name and value."""
    passed = {}
    for frame in inner:
        names = frame.f_code.co_varnames[
            : frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount
        ]
        for place, name in enumerate(names[names[:1] == ("self",) :]):
            for key in (place, name):
                passed[Argument(call, key)] = name, frame.f_locals.get(name)
    return passed


def _note(
    held: dict[Variable, list[HeldReading]],
    variable: Variable,
    readings: Sequence[HeldReading | None],
) -> None:
    """Note what a variable holds, unless it is known to hold something newer."""
    new = [reading for reading in readings if reading]
    before = held.get(variable)
    if new and not (before and before[0].reading.since >= new[0].reading.since):
        held[variable] = new


def _position(frame: FrameType) -> Position:
    """Return the position of the expression that a frame waits for."""
    return list(frame.f_code.co_positions())[frame.f_lasti // 2]


@cache
def _source(path: str) -> Source:
    source = Source({}, [])
    try:
        tree = ast.parse("".join(linecache.getlines(path)))
    except SyntaxError:  # the file has changed since it was run
        return source
    above = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call | ast.Await):
            source.calls[_place(node)] = list(_flows(node, above))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            source.names.extend((node.lineno, node.id, flow) for flow in _flows(node, above))
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            step, name = _reckoned(node.op, node.value, first=True), node.target.id
            source.names.extend([(node.lineno, name, Flow(name, (step,)))] if step else [])
    return source


def _place(node: ast.expr) -> Position:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def _flows(node: ast.AST, above: dict[ast.AST, ast.AST]) -> Iterator[Flow]:
    """Yield the destinations of an expression's value, through operations that are followed."""
    steps: list[Step] = []
    among: list[bool] = []  # of a tuple's parts, this one
    while parent := above.get(node):
        if isinstance(parent, ast.Assign | ast.AnnAssign | ast.For | ast.NamedExpr):
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            for target in () if node in targets else targets:
                for name in _names(target, among):
                    yield Flow(name, tuple(steps))
        if isinstance(parent, ast.Call) and node in parent.args:
            yield Flow(Argument(_place(parent), parent.args.index(node)), tuple(steps))
        call = above.get(parent)
        if isinstance(call, ast.Call) and isinstance(parent, ast.keyword) and parent.arg:
            yield Flow(Argument(_place(call), parent.arg), tuple(steps))
        if isinstance(parent, ast.stmt) or (step := _step(parent, node)) is None:
            return
        among = [part is node for part in parent.elts] if isinstance(parent, ast.Tuple) else []
        steps.append(step)
        node = parent


def _names(target: ast.expr, among: list[bool]) -> Iterator[str]:
    """Yield the variables that are set; in a tuple, only those whose place in `among` is true."""
    parts = [target]
    if isinstance(target, ast.Tuple) and len(target.elts) == len(among):
        parts = [part for part, here in zip(target.elts, among, strict=True) if here]
    for part in parts:
        for child in ast.walk(part):
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
                yield child.id


def _step(parent: ast.AST, node: ast.AST) -> Step | None:
    """Return the operation that an expression applies to a part; None: not followed."""
    match parent:
        case ast.NamedExpr(value=value) if value is node:
            return _itself
        case ast.IfExp(test=test) if test is node:
            return None
        case ast.Attribute(attr=name) if name in METHODS:
            return lambda value: [getattr(value, name)]
        case ast.Call(func=method) if method is node:
            given = _constants(parent.args)
            return None if given is None else lambda value: [value(*given)]
        case ast.Call(func=ast.Name(id="map"), args=[ast.Name(id=name), _]):
            convert = _convert(name)
            return convert and (lambda value: _each(convert, value))
        case ast.Call(func=ast.Name(id=name)) if name in vars(builtins):
            return _convert(name)
        case ast.Call(func=ast.Attribute(attr="loads") | ast.Name(id="loads")):
            return lambda value: [json.loads(value)]
        case ast.Call(func=function):
            return _forms if _is_own(function) else None
        case ast.BinOp(left=left, op=op, right=right):
            return _reckoned(op, right if left is node else left, first=left is node)
        case ast.Subscript(value=value, slice=at) if value is node:
            key = _constants([at])
            return None if key is None else lambda value: [_part(value, *key)]
    return _itself if isinstance(parent, SAME) else None


def _is_own(function: ast.expr) -> bool:
    """Is it a function, or a method of `self`? (A method of another object may return a server's
    value.)
    """
    method = isinstance(function, ast.Attribute)
    while isinstance(function, ast.Attribute):
        function = function.value
    return isinstance(function, ast.Name) and (not method or function.id == "self")


def _reckoned(op: ast.operator, other: ast.expr, first: bool) -> Step | None:
    """Return arithmetic with a constant; the value is the `first` operand, or the second."""
    reckon, constant = ARITHMETIC.get(type(op)), _constants([other])
    if reckon is None or constant is None:
        return None
    fixed = constant[0]
    return lambda value: [reckon(value, fixed) if first else reckon(fixed, value)]


def _itself(value: Any) -> list[Any]:
    return [value]


def _each(step: Step, value: Any) -> list[Any]:
    """Apply a step to each of several values."""
    return [made for part in _parts(value) or [value] for made in step(part)]


def _convert(name: str) -> Step | None:
    if name not in CONVERSIONS:
        return None
    if name in ("list", "map", "tuple"):
        return _itself  # of several: each of them stays what it is
    return lambda value: [getattr(builtins, name)(value)]


def _constants(nodes: Sequence[ast.expr]) -> list[Any] | None:
    try:
        return [ast.literal_eval(node) for node in nodes]
    except ValueError:
        return None


def _tried(step: Step, value: Any) -> list[Any]:
    try:
        return list(step(value))
    except Exception:  # noqa: BLE001  no value of this kind
        return []


def _forms(value: Any) -> Iterator[Any]:
    """Yield a value, and its results of functions that only write it in another way."""
    yield value
    if isinstance(value, bytes):
        with suppress(UnicodeDecodeError):
            value = value.decode()
            yield value
    for convert in (int, float, json.loads) if isinstance(value, str) else ():
        with suppress(ValueError):
            yield convert(value)


def _part(value: Any, key: Any) -> Any:
    """Return an item of a container; a text stays as it is."""
    return value[key] if isinstance(value, dict | list | tuple) else value


def _parts(value: Any) -> Sequence[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list | tuple) else ()


def _same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and bool(left == right)
