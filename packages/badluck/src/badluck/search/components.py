"""The ends of a graph: states without a transition, and circles without an exit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence


def terminal_components(states: Sequence[int], ways: Callable[[int], Iterable[int]]) -> set[int]:
    """Find states that `ways` never leaves: ends, and circles without an exit."""
    onward = {state: list(ways(state)) for state in states}
    backward: dict[int, list[int]] = defaultdict(list)
    for state, following in onward.items():
        for to in following:
            backward[to].append(state)
    ends = {state for state, following in onward.items() if not following}
    reach = _all_that_lead_to(ends, backward)
    for circle in cycles([state for state in states if state not in reach], onward):
        if all(to in circle for state in circle for to in onward[state]):
            ends |= circle
    return ends


def _all_that_lead_to(ends: set[int], backward: dict[int, list[int]]) -> set[int]:
    reach, todo = set(ends), list(ends)
    while todo:
        for state in backward[todo.pop()]:
            if state not in reach:
                reach.add(state)
                todo.append(state)
    return reach


def cycles(states: Sequence[int], onward: dict[int, list[int]]) -> Iterable[set[int]]:
    """Yield strongly connected components (Tarjan 1972), without recursion."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    for root in states:
        if root in order:
            continue
        work = [(root, iter(onward[root]))]
        order[root] = low[root] = len(order)
        stack.append(root)
        on_stack.add(root)
        while work:
            state, following = work[-1]
            for to in following:
                if to not in order:
                    order[to] = low[to] = len(order)
                    stack.append(to)
                    on_stack.add(to)
                    work.append((to, iter(onward[to])))
                    break
                if to in on_stack:
                    low[state] = min(low[state], order[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[state])
                if low[state] == order[state]:
                    circle = set()
                    while state not in circle:
                        member = stack.pop()
                        on_stack.discard(member)
                        circle.add(member)
                    yield circle
