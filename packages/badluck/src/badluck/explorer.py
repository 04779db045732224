"""Explore one target within one budget, and report the findings."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

from badluck.actor.actor import Code
from badluck.actor.user_code_error import UserCodeError
from badluck.faults import Faults
from badluck.findings.code_hints import causes, errors, mistake, never_well, raised
from badluck.findings.endless_wait import STARVED, STUCK
from badluck.findings.exception_rule import EXCEPTION
from badluck.findings.inferred_lock_rules import OF_ANY, on_some_way, unseen
from badluck.findings.judge import Judge
from badluck.model.server import begun
from badluck.model.values import Uncounted
from badluck.report.report import Finding, Report
from badluck.report.trace import trace
from badluck.report.wait_text import extend_to_wait, wait_text
from badluck.search.automaton import Automaton
from badluck.search.behaviour import Known
from badluck.search.graph import Graph
from badluck.search.moves import Moves
from badluck.search.names import LETTERS
from badluck.search.paths import Path, schedules, shortest
from badluck.search.renamed_automaton import RenamedAutomaton
from badluck.search.server_states import ServerStates
from badluck.search.starvation import EndlessGraph, starvation
from badluck.search.state_table import MAX_STATES, TooMany
from badluck.search.symmetry import Symmetry
from badluck.target import EPOCH, Target

IN_EVERY_ORDER = (
    "This happens in every order. Code that runs forever needs an end in a test: a message that "
    "stops it, or a time-out."
)


class Explorer:
    """One target and so many actors, 2 to 4; their code's behaviour is learned once for all
    budgets.

    Their code runs in this process; `explore` in sandbox/client.py runs it in one of its own.
    """

    def __init__(
        self,
        target: Target,
        actors: int,
        counts_given: bool = False,
        automaton: Callable[[str, Code, int], Known] = Automaton,
    ) -> None:
        """`counts_given`: count how often a stream's entries were given; otherwise only when code
        asks.

        `automaton` makes the automaton of each actor, where they do different work.
        """
        self.target = target
        self.automaton = automaton
        self.graph: Graph | None = None
        self._begin(actors, counts_given)

    def _begin(self, actors: int, counts_given: bool) -> None:
        target = self.target
        with target.surroundings():
            started = begun(EPOCH, target.setup(), counts_given)
            self.servers = ServerStates(started, target.names_follow, target.moments)
            self.automata: list[Known]
            self.symmetry: Symmetry | None = None
            if target.alike:
                first = Automaton(LETTERS[0], target.code, EPOCH)
                rename = self.servers.rename
                self.automata = [
                    first,
                    *(RenamedAutomaton(first, n, rename) for n in range(1, actors)),
                ]
                self.symmetry = Symmetry(self.servers, self.automata)
            else:
                self.automata = [
                    self.automaton(name, target.code, EPOCH) for name in LETTERS[:actors]
                ]
            self.moves = Moves(
                self.servers, self.automata, target.reuse_tokens, not target.code.shown
            )

    def explore(self, faults: Faults, most: int = MAX_STATES) -> Report:
        """Try every order of the steps, with up to so many faults of each kind in one schedule.

        `most` limits the number of states; if there are more, the report is not exhaustive. Raises
        NotImplementedError for what the model of the server lacks.
        """
        return self._counted(lambda: self._explore(faults, most))

    def starve(self, most: int = MAX_STATES) -> Report:
        """Let all but the first come again and again, without a fault: can they starve it?"""
        return self._counted(lambda: self._starve(most))

    def _counted(self, search: Callable[[], Report]) -> Report:
        """Search; if a command asks how often entries were given, search again and count that."""
        try:
            return search()
        except Uncounted:
            self._begin(len(self.automata), counts_given=True)
            return search()

    def _explore(self, faults: Faults, most: int) -> Report:
        began = time.perf_counter()
        with self.target.surroundings():
            graph = Graph(self.moves, faults, self.target.pauses, most, self.symmetry)
            self.graph = graph
            exhaustive = _exhausted(graph)
            judge = Judge(graph, self.target)
            places = judge.places if exhaustive else judge.seen
            paths = shortest(graph, places)
            many = schedules(graph) if exhaustive else None
            paths |= on_some_way(judge, paths)
            paths_found = {
                rule.name: paths[rule.name] for rule in self.target.rules if rule.name in paths
            }
            reasons = list(causes(graph, self.target)) if paths_found else []
            if alone := mistake(graph, self.target, paths_found):
                raise UserCodeError("\n".join([alone, *reasons]))
            if blind := unseen(judge, bool(paths_found) or not exhaustive):
                raise UserCodeError(blind)
            if STUCK.name in paths_found:
                paths_found[STUCK.name] = extend_to_wait(judge, paths_found[STUCK.name])
            report = self._report(judge, faults, exhaustive, many, paths_found, began)
            if report.findings and self.moves.user_code:
                first = paths_found[report.findings[0].name]
                reasons = reasons or _without_a_race(graph, first)
                reasons += errors(graph, first)
            elif exhaustive and self.moves.user_code:
                reasons += never_well(graph)
            return replace(report, causes=reasons)

    def _starve(self, most: int) -> Report:
        began = time.perf_counter()
        with self.target.surroundings():
            graph = self.graph = EndlessGraph(
                self.moves,
                Faults(),
                self.target.pauses,
                most,
                self.target.filled_up,
                self.target.gave_up,
            )
            exhaustive = _exhausted(graph)
            path = starvation(graph) if exhaustive else None
            judge = Judge(graph, self.target)
            path_by_rule = {STARVED.name: path} if path else {}
            report = self._report(judge, Faults(), exhaustive, None, path_by_rule, began)
            return replace(report, again=True)

    def _report(
        self,
        judge: Judge,
        faults: Faults,
        exhaustive: bool,
        many: int | None,
        paths: dict[str, Path],
        began: float,
    ) -> Report:
        graph = judge.graph
        explanations = {rule.name: rule.explanation for rule in self.target.rules}
        for rule in self.target.rules:
            path = paths.get(rule.name)
            if path and (more := judge.because(rule, graph.states[path.end])):
                explanations[rule.name] += f" {more}"
        if STUCK.name in paths and (waiting := wait_text(judge, paths[STUCK.name])):
            explanations[STUCK.name] += f" {waiting}"
            if 0 in judge.stuck and self.moves.user_code:
                explanations[STUCK.name] += f" {IN_EVERY_ORDER}"
        if EXCEPTION.name in paths:
            first_line = raised(graph, paths[EXCEPTION.name]).partition("\n")[0]
            explanations[EXCEPTION.name] += f" {first_line}"
        for name in OF_ANY & {*paths} if self.moves.user_code else ():
            explanations[name] += f" Taken for a lock: {', '.join(judge.lock_tracker.keys)}."
        findings = [
            Finding(name, path.cost, explanations[name], trace(graph, judge, path))
            for name, path in paths.items()
        ]
        if not self.target.code.shown:  # of a user's code: first what needs no fault
            findings.sort(key=lambda finding: finding.cost.faults > 0)
        seconds = time.perf_counter() - began
        actors = len(self.automata)
        return Report(
            self.target, actors, faults, exhaustive, many, len(graph.states), seconds, findings
        )

    @property
    def seen(self) -> int:
        """Return the number of states so far. May be called from another thread."""
        return len(self.graph.states) if self.graph else 0

    def stop(self) -> None:
        """Stop after the current state. To be called from a signal handler while explore() runs."""
        if self.graph:
            self.graph.most = 0


def _without_a_race(graph: Graph, path: Path) -> list[str]:
    """Say that it is no race, if each actor ends before the next begins, without a fault."""
    if not path.edges:
        return ["No actor has sent a command."]
    turns = [(at, edge.actor) for at, edge in path.edges if edge.kind == "goes"]
    changes = [(at, before) for (_, before), (at, actor) in pairwise(turns) if actor != before]
    ends = [graph.automata[actor].nodes[graph.states[at].nodes[actor]] for at, actor in changes]
    threads = any(edge.fiber for _, edge in path.edges)
    if ends and not (path.cost.faults or threads) and all(node.ended for node in ends):
        return ["It is no race: it goes wrong when they come one after the other."]
    return []


def _exhausted(graph: Graph) -> bool:
    try:
        graph.explore()
    except TooMany:
        return False
    return True
