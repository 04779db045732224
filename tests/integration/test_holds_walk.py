"""Random actions on holds, in any order: stocked = left + held + sold, and each hold ends as a
model of a few lines says.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress

import pytest

from app.bootstrap import Services
from app.domain import AlreadyPaid, HoldOver, Order, Outcome, Stands
from app.modes import Way
from app.service.purchase import Purchase
from tests.support.holds import LONG, counted, runs_out
from tests.support.purchases import fulfil_all

RUNS_ON = ["valkey", "cluster"]
STOCK, STEPS = 40, 60
ENDS = {"pay": Stands.PAID, "decline": Stands.DECLINED, "cancel": Stands.CANCELLED}
DEEDS = (*ENDS, "late", "again", "sweep", "fulfil", *["buy"] * 4)


@pytest.mark.parametrize("name", ["watch", "lock:queue", "sql_version"])
@pytest.mark.parametrize("seed", [7, 18])
def test_walk(services: Services, worker: Callable[[], Purchase], name: str, seed: int) -> None:
    dice = random.Random(f"{name} {seed}")
    round = services.rounds.start("apple", name, STOCK, {"hold": LONG})
    shop = worker()
    stands: dict[str, Stands] = {}  # the model: a hold's id, its state
    made: dict[str, Order] = {}

    def units(*those: Stands) -> int:
        return sum(made[id].quantity for id, each in stands.items() if each in those)

    for step in range(STEPS):
        deed = dice.choice(DEEDS)
        free = STOCK - units(Stands.HELD, Stands.PAID)
        if deed == "buy":
            quantity = dice.randint(1, 9)
            sale = shop.buy("apple", quantity, f"key-{step}").sale
            assert (sale.outcome is Outcome.HELD) == (quantity <= free), (seed, step)
            if sale.order:
                made[sale.order.id], stands[sale.order.id] = sale.order, Stands.HELD
        elif deed == "sweep":
            services.sweep.sweep()
        elif deed == "fulfil":
            fulfil_all(services.fulfil)
        elif made:
            unpaid = [id for id in made if stands[id] is Stands.HELD]
            often = unpaid if unpaid and dice.random() < 0.7 else list(made)
            order = made[dice.choice(often)]
            if deed == "late":
                if stands[order.id] is Stands.HELD:
                    stands[order.id] = Stands.EXPIRED
                    runs_out(services, order)
                    # In the database its units wait for the sweep.
                    if Way.of(name).in_database or dice.random() < 0.5:
                        services.sweep.sweep()
                    services.holds.look(order)
            elif deed == "again":
                with suppress(HoldOver):
                    same = shop.buy("apple", order.quantity, order.key).sale.order
                    assert same == order
                    assert stands[order.id] in (Stands.HELD, Stands.PAID)
            else:
                wanted = ENDS[deed]
                if stands[order.id] is Stands.HELD:
                    stands[order.id] = wanted
                with suppress(HoldOver, AlreadyPaid):
                    if wanted is Stands.PAID:
                        services.holds.pay(order)
                    else:
                        services.holds.give_up(order, wanted)
                    assert stands[order.id] is wanted, (seed, step)
        sold, held = units(Stands.PAID), units(Stands.HELD)
        assert counted(services, round) == (STOCK - sold - held, held, sold), (seed, step, deed)
    assert len(set(stands.values())) > 2, "it went some way"
