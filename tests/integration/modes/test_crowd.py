"""Many buyers at once: all modes except exhibits stay exact (test_race.py breaks the exhibits)."""

from __future__ import annotations

import pytest

from app.bootstrap import Services
from app.domain import Outcome
from tests.support.purchases import ON_DATABASES, SOUND, at_once, fulfil_all, mode, order

RUNS_ON = ["valkey", "cluster"]

pytestmark = [
    pytest.mark.usefixtures("database_url"),
    pytest.mark.parametrize(
        ("name", "database_url"),
        [on for on in ON_DATABASES if on[0] in SOUND],
        indirect=["database_url"],
    ),
]


@pytest.mark.parametrize("wait", [0, 50_000])
def test_a_crowd_is_sold_exactly_the_stock(services: Services, name: str, wait: int) -> None:
    """Impatient buyers may get BUSY; that is neither an oversell nor an undersell.

    With `redlock` all of them may get it: each has a vote, and none the majority.
    """
    round = services.rounds.start("apple", name, 40, {"wait": wait, "attempts": 1000})
    seller = mode(services, round)
    sales = at_once([lambda: seller.sell(order(round)) for _ in range(64)])
    fulfil_all(services.fulfil)
    audit = services.auditor.audit(round)
    sold = sum(sale.outcome is Outcome.SOLD for sale in sales)
    assert audit.verdict == ("exact" if sold else "untouched"), audit
    assert audit.sold == audit.orders == sold == 40 - audit.left
    if wait:
        assert sold == 40


def test_one_key_pressed_by_many_fingers_buys_once(services: Services, name: str) -> None:
    selling = services.rounds.start("apple", name, 10, {})
    seller = mode(services, selling)
    sales = at_once([lambda: seller.sell(order(selling, key="k")) for _ in range(16)])
    assert {sale.outcome for sale in sales} == {Outcome.SOLD}
    assert len({sale.order for sale in sales}) == 1
    assert services.rounds.left(selling) == 9
