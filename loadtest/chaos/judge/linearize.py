"""Wing and Gong's search: is there an order of a round's moves in which all answers are true?

The search takes the moves by the moment at which each has to be over (Lowe's just-in-time order).
Take a due move X that is not done yet at that moment: all other moves are done either before X
because X needs them, or later. A configuration is the set of moves that are done; the free units
follow from it. Each is looked at once, and out of `budget` there is no verdict. [Wing & Gong 1993;
Lowe, Testing for linearizability, 2017]

The search is quick because moves that say nothing about the stock (*blind* ones) differ only by
their units. A take is *linked* if a give of its units may come before the take is over. In a valid
order some moves can be put elsewhere, and the order stays valid:

1. **A look is done as soon as it is true.** It changes nothing, and moves that wait for it are only
   helped: move it forward to that moment.
2. **Blind moves are done only to let an *anchor* happen**: X, a move that says what is left, or a
   linked take that is due. Between two anchors, leave out some moves that the second anchor does
   not need, and do them right after it, gives first and then takes. The sum stays the same, with
   the gives first there are always enough units, and none is late, as X has to be over before all
   of them. Moves that are put off from anchor to anchor are done after X. (A give cannot come
   before its own take: a take that is put off to the place of its own give is linked, so it is not
   due, and both are left out for good.) So before an anchor there are as many moves as it needs,
   and no part of them could be left out: never a give and a take of the same units.
3. **Of equal moves the one that is over first is done first.** If B is done while A could be, and A
   later or never, exchange them: A can be there, and B is not too late in A's place. (A move that
   is not due cannot be exchanged for one that is.) If B is linked, its give may come in between;
   then A's give takes that place, and B's give the place of A's give: if A's give is possible no
   later than B's. So of 25 holds that have run out there is one choice: how many are back.

If X waits for a look or for a linked take, that move is an anchor by itself. A test checks against
all permutations of some hundred small lists that these rules leave nothing out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loadtest.chaos.judge.move_dominance import MoveDominance
from loadtest.chaos.judge.moves import Move
from loadtest.chaos.judge.subset_search import BudgetExhausted, SearchBudget, find_subsets

BUDGET = 200_000  # configurations and sums: usually half a minute


@dataclass(frozen=True, slots=True)
class SearchResult:
    """`linearizable` None: out of budget.

    `order` is one that fits, `stuck` the farthest move reached.
    """

    linearizable: bool | None
    looked_at: int  # configurations; or steps, if the budget was exhausted
    order: tuple[int, ...] = ()
    stuck: int = -1  # the move that is impossible after every order of the moves before it


def linearize(moves: Sequence[Move], stock: int, budget: int = BUDGET) -> SearchResult:
    """Search; without recursion, as a round may have thousands of moves."""
    budget_left = SearchBudget(budget)
    search = _Search(moves, budget_left)
    visited: set[tuple[int, int]] = set()
    deepest = 0
    order: list[int] = []
    first = _At(0, 0, stock)
    path = [(0, search.steps(first))]
    while path:
        length, steps = path[-1]
        try:
            step = next(steps, None)
            if step:
                budget_left.pay()
        except BudgetExhausted:
            return SearchResult(None, budget, stuck=search.turns[deepest])
        if step is None:
            path.pop()
            continue
        did, now = step
        del order[length:]
        order += did
        if now.turn == len(search.turns):
            return SearchResult(True, len(visited), tuple(order))
        if (now.turn, now.done) in visited:
            continue
        visited.add((now.turn, now.done))
        deepest = max(deepest, now.turn)
        path.append((len(order), search.steps(now)))
    return SearchResult(False, len(visited), stuck=search.turns[deepest] if search.turns else -1)


@dataclass(frozen=True, slots=True)
class _At:
    """A configuration: the due moves before `turn` are done, and all moves in `done`."""

    turn: int
    done: int  # a bit for each move
    free: int


class _Search:
    def __init__(self, moves: Sequence[Move], budget_left: SearchBudget) -> None:
        self.moves = moves
        self.budget_left = budget_left
        self.dominance = MoveDominance(moves)
        due = [index for index, move in enumerate(moves) if move.due]
        self.turns = sorted(due, key=lambda index: (moves[index].until, moves[index].since))
        self.begun = []  # for each turn those that can have begun, as bits
        by_since = sorted(range(len(moves)), key=lambda index: moves[index].since)
        bits, place = 0, 0
        for turn in self.turns:
            while place < len(moves) and moves[by_since[place]].since <= moves[turn].until:
                bits |= 1 << by_since[place]
                place += 1
            self.begun.append(bits)
        self.anchors = 0  # but X
        for index, move in enumerate(moves):
            if move.exact or (self.dominance.linked(index) and move.due):
                self.anchors |= 1 << index

    def steps(self, at: _At) -> Iterator[tuple[list[int], _At]]:
        """Yield the next moves, in their order, with the configuration to which they lead."""
        looks: list[int] = []
        done, turn = at.done, at.turn
        while turn < len(self.turns):
            for index in _bits(self.begun[turn] & ~done & self.anchors):
                move = self.moves[index]
                if not move.delta and move.fits(at.free) and self._ready(index, done):  # (1)
                    looks.append(index)
                    done |= 1 << index
            if not done >> self.turns[turn] & 1:
                break
            turn += 1
        if turn == len(self.turns):
            yield looks, _At(turn, done, at.free)
            return
        pending = self.begun[turn] & ~done
        if not pending >> self.turns[turn] & 1:  # over before it could begin
            return
        for anchor in self._wanted(turn, pending, done, at.free):
            move = self.moves[anchor]
            low, high = move.low - move.delta, move.high - move.delta
            ready = [
                index
                for index in _bits(pending & ~self.anchors)
                if index != anchor and self._ready(index, done)
            ]
            for subset in find_subsets(
                self.dominance, ready, low - at.free, high - at.free, self.budget_left
            ):
                after = done | 1 << anchor
                free = at.free + move.delta
                for index in subset:
                    after |= 1 << index
                    free += self.moves[index].delta
                yield [*looks, *subset, anchor], _At(turn, after, free)

    def _ready(self, index: int, done: int) -> bool:
        after = self.moves[index].after
        return after < 0 or bool(done >> after & 1)

    def _wanted(self, turn: int, pending: int, done: int, free: int) -> list[int]:
        """Return the anchors to try, the most promising first: fitting ones, X, the nearest."""
        now = self.turns[turn]
        wanted = {index for index in _bits(pending & self.anchors) if self._ready(index, done)} - {
            now
        }
        equal: dict[tuple[int, int, int], list[int]] = {}
        for index in wanted:
            move = self.moves[index]
            equal.setdefault((move.delta, move.low, move.high), []).append(index)
        candidates = [index for some in equal.values() for index in self.dominance.firsts(some)]
        if self._ready(now, done):
            candidates.append(now)

        def promise(index: int) -> tuple[bool, int, int]:
            move = self.moves[index]
            needed = max(move.low - move.delta - free, free + move.delta - move.high, 0)
            return (needed > 0 and index != now, needed, move.until)

        return sorted(candidates, key=promise)


def _bits(bits: int) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
