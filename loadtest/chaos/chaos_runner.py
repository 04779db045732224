"""Plays one act: lanes sell in threads, the main thread injects faults, repairs and settles."""

from __future__ import annotations

import heapq
import itertools
import random
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial

from loadtest.chaos.customers import Customer
from loadtest.chaos.fault_coverage import ANSWERS
from loadtest.chaos.fault_targeting import NO_TARGET, Effect, Targeting
from loadtest.chaos.faults import STRIKES
from loadtest.chaos.history import (
    Action,
    InjectedFault,
    Kind,
    Part,
    Recorder,
    Reply,
    RoundStarted,
    ServedAgain,
)
from loadtest.chaos.operator import Operator
from loadtest.chaos.plan import Act, FaultStep, PlannedRound
from loadtest.chaos.shop import TestedShop
from loadtest.chaos.shop_client import Market, ShopClient, Wish

TICK = 0.01  # s
REVIVE = 0.25  # s between two looks for processes that have ended
STARTING = 8.0  # s that a round may take to begin
SERVED = 20.0  # s after all repairs until a buyer must be served again; a busy machine takes some
BUYERS = 2  # that try this for each item, each over its own connection
ENDING = 3.0  # s after its deadline until a hold's units are back, also on a busy machine
SETTLING = 60.0  # s for an audit to settle, and for a round to end, after all repairs


class ChaosRunner:
    """Plays acts; `gone` says that the run must end at once."""

    def __init__(
        self,
        shop: TestedShop,
        operator: Operator,
        market: Market,
        recorder: Recorder,
        gone: Callable[[], bool],
    ) -> None:
        self.shop, self.operator, self.market = shop, operator, market
        self.recorder, self.gone = recorder, gone
        self.playing: dict[str, int] = {}  # item -> its running round
        self.targeting = Targeting(shop, market, lambda: list(self.playing.items()))
        self.hits = 0
        self.steps = 0

    def play(self, act: Act) -> None:
        """Play an act. Raises ChaosFailed when the shop cannot be repaired."""
        chance = random.Random(act.seed)  # noqa: S311  a plan, no secret
        mended = threading.Event()
        lanes = [
            threading.Thread(
                target=self._lane, args=(item, rounds, chance.randrange(2**32), mended), daemon=True
            )
            for item, rounds in act.lanes
        ]
        lanes.append(threading.Thread(target=self._audit, args=(mended,), daemon=True))
        played_before = set(self.operator.begun)
        for lane in lanes:
            lane.start()
        try:
            self._break(act)
            if not self.gone():
                self.shop.heal()
                running = [*self.playing.items()] * BUYERS
                with ThreadPoolExecutor(len(running) or 1) as pool:
                    for _ in pool.map(lambda round: self._try_to_buy(*round), running):
                        pass  # an exception of a thread is raised here
        finally:
            mended.set()
            for lane in lanes:
                lane.join(SETTLING)
        self.playing.clear()
        self._settle(sorted(set(self.operator.begun) - played_before))

    def _try_to_buy(self, item: str, number: int) -> None:
        """Press until the shop knows the stock, and record how long that took.

        Not for an item that is off sale: what the store has lost of it was not accepted yet.
        """
        began, response, served = time.monotonic(), None, False
        with closing(ShopClient(self.market, f"new-{uuid.uuid4()}")) as buyer:
            while not served and time.monotonic() < began + SERVED and not self.gone():
                if response:
                    time.sleep(REVIVE)
                wish = Wish(buyer.name, item, str(uuid.uuid4()), 1, buyer.greet())
                response = buyer.buy(wish, number)
                served = response.answer in ANSWERS
                if response.answer is Reply.REFUSED and self.operator.has_lost(item, number):
                    return
        seconds = round(time.monotonic() - began, 3) if served else None
        evidence = response.evidence if response else ""
        self.recorder.note(ServedAgain(time.monotonic_ns(), item, number, seconds, evidence))

    def _lane(
        self, item: str, rounds: tuple[PlannedRound, ...], seed: int, mended: threading.Event
    ) -> None:
        over = threading.Event()
        first = rounds[0]
        pace = first.buyers * first.seconds / (1.1 * first.stock)
        running = partial(self.playing.get, item)
        customers = [
            Customer(self.market, f"{item}-{n}", item, seed + n, pace, over, running)
            for n in range(first.buyers)
        ]
        for played in rounds:
            if self.gone():
                break
            if not played.switched and item in self.playing:
                self.operator.end(item, time.monotonic() + STARTING)
            self._begin(item, played)
            if played is first:
                for customer in customers:
                    customer.start()
            until = time.monotonic() + played.seconds
            while time.monotonic() < until and not self.gone():
                time.sleep(5 * TICK)
        over.set()
        for customer in customers:
            customer.join(SETTLING)
        mended.wait()
        self._try_the_limit(item)
        self.operator.end(item, time.monotonic() + SETTLING)

    def _audit(self, mended: threading.Event) -> None:
        """Audit the running rounds in turn while buyers buy."""
        while not mended.wait(REVIVE):
            for item, number in list(self.playing.items()):
                self.operator.audit_meanwhile(item, number)

    def _try_the_limit(self, item: str) -> None:
        """Let a new buyer hold more than half its limit, cancel, and press again without a hold."""
        begun = self.operator.begun.get((item, self.playing.get(item, 0)))
        if begun is None or begun.hold is None or begun.limit is None:
            return
        with closing(ShopClient(self.market, f"again-{uuid.uuid4()}")) as buyer:
            self._hold_and_cancel(buyer, begun, cookie := buyer.greet())
            deadline = time.monotonic() + begun.hold / 1000 + ENDING
            while time.monotonic() < deadline and not self.gone():
                audit = self.operator.audit_meanwhile(item, begun.round)
                if audit and audit.marked:
                    return  # the store has lost something: no hold ends, and nothing is on sale
                if audit and audit.found_held == 0:
                    break
                time.sleep(REVIVE)
            self._hold_and_cancel(buyer, begun, cookie)

    @staticmethod
    def _hold_and_cancel(buyer: ShopClient, begun: RoundStarted, cookie: str) -> None:
        units = (begun.limit or 0) // 2 + 1
        wish = Wish(buyer.name, begun.item, str(uuid.uuid4()), units, cookie)
        response = buyer.buy(wish, begun.round)
        if response.answer is Reply.HELD and response.order:
            buyer.settle(Action.CANCEL, wish, response.order)

    def _begin(self, item: str, played: PlannedRound) -> None:
        since = time.monotonic_ns()
        before = self.playing.get(item)
        number = self.operator.start(item, played, time.monotonic() + STARTING)
        if number is None:
            return
        self.playing[item] = number
        if before is not None and played.switched:
            self.steps += 1
            ops = self.targeting.ops_of(item)
            self._note(Kind.SWITCH, Part.SHOP, since, Effect(item, ops), (item,))

    def _break(self, act: Act) -> None:
        """Take the act's steps, and end each after its seconds."""
        begin = time.monotonic()
        order = itertools.count()
        due: list[tuple[float, int, Callable[[], None]]] = []
        open_steps: set[int] = set()

        def take(step: FaultStep) -> None:
            since = time.monotonic_ns()
            effect = STRIKES[step.kind, step.where](self.targeting, step)
            self.steps += 1
            if effect is NO_TARGET:
                return
            number = next(order)
            open_steps.add(number)
            heapq.heappush(
                due,
                (
                    time.monotonic() - begin + step.seconds,
                    number,
                    lambda: finish(step, effect, since, number),
                ),
            )

        def finish(step: FaultStep, effect: Effect, since: int, number: int) -> None:
            effect.ops |= effect.late()
            effect.end()
            open_steps.discard(number)
            if effect.happened:
                self._note(step.kind, step.where, since, effect)

        for step in act.steps:
            due.append((step.at, next(order), lambda step=step: take(step)))  # type: ignore[misc]
        heapq.heapify(due)
        revive = 0.0
        while not self.gone():
            now = time.monotonic() - begin
            while due and due[0][0] <= now:
                heapq.heappop(due)[2]()
            if not due and now > act.seconds:
                break
            if not open_steps and now > revive:
                revive = now + REVIVE
                self.shop.revive()
            time.sleep(TICK)
        for _, number, end in sorted(due):
            if number in open_steps:
                end()

    def _note(
        self, kind: Kind, where: Part, since: int, effect: Effect, items: tuple[str, ...] = ()
    ) -> None:
        self.hits += bool(effect.ops or effect.unbooked)
        ops, until = tuple(sorted(effect.ops)), time.monotonic_ns()
        self.recorder.note(
            InjectedFault(kind, where, since, until, ops, effect.unbooked, effect.detail, items)
        )

    def _settle(self, rounds: list[tuple[str, int]]) -> None:
        """Wait until all is booked, and keep each round's last audit."""
        deadline = time.monotonic() + SETTLING
        with ThreadPoolExecutor(len(rounds) or 1) as pool:  # an audit mostly waits
            for audit in pool.map(
                lambda round: self.operator.settled(round[0], round[1], deadline), rounds
            ):
                if audit:
                    self.recorder.note(audit)
