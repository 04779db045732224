"""Realistic buyers: they press twice, lose patience, come back, and look at their orders."""

from __future__ import annotations

import random
import threading
import uuid
from collections.abc import Callable
from contextlib import suppress

from loadtest.chaos.history import Action, Reply, Response
from loadtest.chaos.shop_client import Market, ShopClient, Wish

REFUSALS = (Reply.SOLD_OUT, Reply.LIMIT, Reply.REFUSED)
ENDED = (Reply.EXPIRED, Reply.GIVEN_BACK)  # answers about a hold that has ended


class Customer(threading.Thread):
    """Buys until `over`, a new wish each time, or an earlier one.

    `round` returns the round that runs, as far as the harness knows; `pace` is the mean s between
    two wishes.
    """

    def __init__(
        self,
        market: Market,
        name: str,
        item: str,
        seed: int,
        pace: float,
        over: threading.Event,
        round: Callable[[], int | None],
    ) -> None:
        super().__init__(name=name, daemon=True)
        self.market, self.item, self.over, self.round, self.pace = market, item, over, round, pace
        self.chance = random.Random(seed)  # noqa: S311  a plan, no secret
        self.buyer = ShopClient(market, self.name)

    def run(self) -> None:
        self._pause(self.pace)
        while not self.over.is_set():
            self.go_for(self._wish())
            self._pause(self.pace)
        self.buyer.close()

    def _wish(self) -> Wish:
        later = self.market.later.get(self.item)
        if later and self.chance.random() < 0.15:
            with suppress(IndexError):
                return later.popleft() if self.chance.random() < 0.5 else later.pop()
        return self._new_wish()

    def _new_wish(self) -> Wish:
        key = str(uuid.UUID(int=self.chance.getrandbits(128), version=4))
        units = self.chance.choice((1, 1, 1, 1, 2, 3))
        return Wish(self.name, self.item, key, units, self._cookie())

    def _cookie(self) -> str:
        """Return the cookie that the shelf gives a browser; a buyer keeps it through all acts."""
        known = self.market.cookies.get(self.name)
        if not known and (known := self.buyer.greet()):
            self.market.cookies[self.name] = known
        return known or ""

    def go_for(self, wish: Wish) -> None:
        """Press until the outcome is known, or until the buyer gives up."""
        for _ in range(5):
            response = self._press(wish)
            fate = self.chance.random()
            if response.answer is Reply.HELD and response.order:
                self._settle(wish, response.order, fate)
                return
            if response.answer in ENDED:
                return
            if response.answer is Reply.SOLD:
                self._enjoy(wish, response, fate)
                return
            if response.answer is Reply.UNKNOWN and fate < 0.25:
                self.market.remember(wish)  # gives up, and may come back
                return
            if response.answer in REFUSALS and fate < 0.9:
                if fate < 0.1:
                    self.market.remember(wish)
                return
            if self.over.is_set():
                self.market.remember(wish)
                return
            self._pause(0.15)

    def _press(self, wish: Wish) -> Response:
        """Press, now and then twice at once, as in a second tab: there, maybe under another key."""
        if (fate := self.chance.random()) > 0.16:
            return self.buyer.buy(wish, self.round())
        second, also = ShopClient(self.market, self.name), wish
        if fate > 0.06:
            self.market.remember(also := self._new_wish())
        other = threading.Thread(target=second.buy, args=(also, self.round()), daemon=True)
        other.start()
        try:
            return self.buyer.buy(wish, self.round())
        finally:
            other.join()
            second.close()

    def _settle(self, wish: Wish, order: str, fate: float) -> None:
        """Pay for a hold at once, twice, late or never, or give it back."""
        if self.chance.random() < 0.15:
            self.buyer.look(wish, order)
        if fate < 0.12:
            return  # walks away
        if fate < 0.32:
            self.buyer.settle(Action.CANCEL if fate < 0.22 else Action.DECLINE, wish, order)
        else:
            self._pause(0.8 if fate < 0.5 else 0.05)  # some are too late
            while self.buyer.settle(Action.PAY, wish, order).answer is Reply.UNKNOWN:
                if self.over.is_set() or self.chance.random() < 0.2:
                    break
                self._pause(0.15)
        if self.chance.random() < 0.3:  # and once more
            self.buyer.settle(self.chance.choice((Action.PAY, Action.CANCEL)), wish, order)
        if self.chance.random() < 0.2:
            self.buyer.buy(wish, self.round())
        if self.chance.random() < 0.1:
            self.market.remember(wish)

    def _enjoy(self, wish: Wish, response: Response, fate: float) -> None:
        if fate < 0.12:
            self.buyer.buy(wish, self.round())  # once more, to be sure
        elif fate < 0.22 and response.order:
            self.buyer.look(wish, response.order)
        elif fate < 0.32:
            self.market.remember(wish)

    def _pause(self, mean: float) -> None:
        self.over.wait(min(mean * 4, self.chance.expovariate(1 / mean)) if mean else 0)
