"""The judge: which of a target's rules are broken, and where in a graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from badluck.findings.endless_wait import STUCK, doomed, stuck
from badluck.findings.lock_tracker import LockTracker
from badluck.rule import (
    Answers,
    Ending,
    EndRule,
    GraphRule,
    Rule,
    StateRule,
    StepRule,
    StepView,
    View,
)
from badluck.search.graph import Graph
from badluck.search.paths import Goal
from badluck.search.state import CRASHED, SystemState, Transition
from badluck.target import Target


@dataclass(frozen=True)
class Judge:
    """Looks at the states and the steps of one graph."""

    graph: Graph
    target: Target

    @cached_property
    def places(self) -> dict[str, set[Goal]]:
        """Return the states or steps at which each rule is broken; only rules that are.

        For a graph that was explored completely: only then it is known which actors are stuck
        forever.
        """
        goals = dict(self.seen)
        if self.stuck:
            goals[STUCK.name] = set(doomed(self.graph, self.stuck))
        return {name: goals[name] for name in self._in_order(goals)}

    @cached_property
    def stuck(self) -> set[int]:
        """Return the states in which an actor never ends; needs a graph that was explored
        completely.
        """
        return stuck(self.graph)

    @cached_property
    def lock_tracker(self) -> LockTracker:
        return LockTracker(self.graph, self.target.lock_key)

    @cached_property
    def seen(self) -> dict[str, set[Goal]]:
        """Return the same for the part of the graph that is known."""
        goals: dict[str, set[Goal]] = defaultdict(set)
        for number, state in enumerate(self.graph.states):
            for name in self._at(number, state):
                goals[name].add(number)
        for number, edges in enumerate(self.graph.edges):
            for edge, rule in self._done(self.graph.states[number], edges):
                goals[rule.name].add((number, edge))
        for each in self.target.rules:
            if isinstance(each, GraphRule) and (where := each.where(self)):
                goals[each.name] = where
        return {name: goals[name] for name in self._in_order(goals)}

    def after(self, number: int, edge: Transition) -> list[str]:
        """Return the rules that are broken after this step, the gravest first.

        Stuck actors and owners of locks (GraphRule) need all orders: functions/schedule_check.py.
        """
        done = [rule.name for _, rule in self._done(self.graph.states[number], [edge])]
        return self._in_order({*self._at(edge.to, self.graph.states[edge.to]), *done})

    def _done(
        self, state: SystemState, edges: list[Transition]
    ) -> Iterator[tuple[Transition, StepRule]]:
        """Yield the steps from that state that break a rule themselves."""
        before, rules = self.book(state.servers), self._of_step
        for edge in edges:
            if edge.kind in rules:
                taken = StepView(self.target, self.graph, self.book, state, edge, before)
                for rule in rules[edge.kind]:
                    if rule.wrong(taken):
                        yield edge, rule

    def book(self, servers: int) -> Any:
        if servers not in self._books:
            self._books[servers] = self.target.book(*self.graph.servers.stores(servers))
        return self._books[servers]

    def because(self, rule: Rule, state: SystemState) -> str:
        """Explain further why a rule is broken in that state."""
        if not isinstance(rule, StateRule) or rule.because is None:
            return ""
        return rule.because(
            View(self.target, self.book(state.servers), self._what_they_know(state))
        )

    def calm(self, state: SystemState) -> bool:
        """Has no fault hit the living actors? Others may have crashed."""
        return state.left.spent_on_the_gone(self.graph.states[0].left)

    def _in_order(self, names: Iterable[str]) -> list[str]:
        broken = set(names)
        return [rule.name for rule in self.target.rules if rule.name in broken]

    def _at(self, number: int, state: SystemState) -> list[str]:
        standing = state.nodes, bool(state.in_flight)
        answers = self._answers.get(standing)
        if answers is None:
            answers = self._answers[standing] = self._what_they_know(state)
        if answers.over and not self.graph.settled(number):
            answers = answers._replace(over=False)
        key = (state.servers, answers)
        broken = self._found.get(key)
        if broken is None:
            view = View(self.target, self.book(state.servers), answers)
            broken = self._found[key] = [rule.name for rule in self._of_state if rule.wrong(view)]
        return [*broken, *self._at_an_end(state, answers)] if answers.over else broken

    def _at_an_end(self, state: SystemState, answers: Answers) -> list[str]:
        view = View(self.target, self.book(state.servers), answers)
        end = Ending(view, self.graph.undisturbed(state), self.calm(state))
        return [rule.name for rule in self._of_end if rule.wrong(end)]

    def _what_they_know(self, state: SystemState) -> Answers:
        nodes = [
            (automaton.name, automaton.nodes[at])
            for automaton, at in zip(self.graph.automata, state.nodes, strict=True)
            if at != CRASHED
        ]
        return Answers(
            tuple((name, node.outcome) for name, node in nodes if node.ended),
            sum(node.inside for _, node in nodes),
            self.graph.over(state),
        )

    @cached_property
    def _of_state(self) -> list[StateRule]:
        return [rule for rule in self.target.rules if isinstance(rule, StateRule)]

    @cached_property
    def _of_end(self) -> list[EndRule]:
        return [rule for rule in self.target.rules if isinstance(rule, EndRule)]

    @cached_property
    def _of_step(self) -> dict[str, list[StepRule]]:
        """Return the rules by the kind of step."""
        rules: dict[str, list[StepRule]] = defaultdict(list)
        for rule in self.target.rules:
            if isinstance(rule, StepRule):
                for kind in rule.kinds:
                    rules[kind].append(rule)
        return dict(rules)

    # Caches: the store views by the servers' state, the others by their contents.

    @cached_property
    def _books(self) -> dict[int, Any]:
        return {}

    @cached_property
    def _answers(self) -> dict[tuple[tuple[int, ...], bool], Answers]:
        return {}

    @cached_property
    def _found(self) -> dict[tuple[int, Answers], list[str]]:
        return {}
