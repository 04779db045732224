"""Units that come back while others read and write the same stock: forced, at each command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from app.bootstrap import Services
from app.domain import Order, Outcome, Round, Stands
from app.service.audit import judge
from app.store import holds
from app.store.clients import clock
from app.store.keys import Keys
from tests.support.command_hooks import Buyer, put_back
from tests.support.holds import LONG, counted, runs_out
from tests.support.purchases import NAMES, SOUND, HandClock, Once, mode, order

RUNS_ON = ["valkey"]
pytestmark = pytest.mark.usefixtures("wired")

# A lock's recipe decides who enters, and does not change the work inside: two recipes are enough.
LOCKED = ["lock:lease", "lock:queue"]
SOME = [name for name in NAMES if not name.startswith("lock:") or name in LOCKED]
IN_STORE = [name for name in SOME if not name.startswith("sql")]
KEPT = [name for name in IN_STORE if name in SOUND]
BROKEN = [name for name in IN_STORE if name not in SOUND]


def started(services: Services, name: str) -> Round:
    """Start a round without waiting for locks: a buyer that does not get one is refused at once."""
    return services.rounds.start("apple", name, 10, {"hold": LONG, "wait": 0})


def owed(services: Services, round: Round, quantity: int = 3) -> Order:
    """Return a hold that is over; its units have not been put back yet."""
    held = order(round, quantity)
    no_hand = HandClock(lambda: None)  # nor does it think for long
    assert mode(services, round, no_hand).sell(held).outcome is Outcome.SOLD
    assert holds.settle(services.store, round, held, Stands.CANCELLED).owed
    return held


def meanwhile(
    services: Services, round: Round, held: Order, word: str, deed: Callable[[], object]
) -> bool:
    """Put it back; `deed` is done once, before the first command with that word."""
    return put_back(services, round, held, {word: Once(deed)})


def words(round: Round) -> list[str]:
    """Return a word for each moment: a lock is taken by SET or a script; then comes the write."""
    keys = Keys(round.item, round.number)
    return ["SET", "EVALSHA", keys.held]


@pytest.mark.parametrize("at", range(3))
@pytest.mark.parametrize("name", KEPT)
def test_two_who_put_back_at_once_put_back_once(services: Services, name: str, at: int) -> None:
    round = started(services, name)
    held = owed(services, round)

    def again() -> bool:
        return services.holds.put_back(round, [held])

    assert meanwhile(services, round, held, words(round)[at], again) or again()
    assert counted(services, round) == (10, 0, 0)


@pytest.mark.parametrize("at", range(3))
@pytest.mark.parametrize("name", KEPT)
def test_a_sale_in_between_is_lost_by_neither(services: Services, name: str, at: int) -> None:
    round = started(services, name)
    held = owed(services, round)
    other, told = mode(services, round), list[Outcome]()

    def sell_another() -> None:
        told.append(other.sell(order(round)).outcome)

    done = meanwhile(services, round, held, words(round)[at], sell_another)
    assert done or services.holds.put_back(round, [held])
    sold = told.count(Outcome.SOLD)
    assert counted(services, round) == (10 - sold, sold, 0)


@pytest.mark.parametrize("at", range(3))
@pytest.mark.parametrize("name", KEPT)
def test_the_rounds_end_in_between(services: Services, name: str, at: int) -> None:
    round = started(services, name)
    held = owed(services, round)
    meanwhile(services, round, held, words(round)[at], lambda: services.rounds.end("apple"))
    services.rounds.find("apple").running and services.rounds.end("apple")
    ended = services.rounds.find("apple")
    services.holds.put_back(ended, [held])
    services.holds.put_back(round, [held])  # by a worker that does not know of its end
    assert counted(services, ended) == (10, 0, 0)


@pytest.mark.parametrize("name", [name for name in BROKEN if name != "watched_blind"])
def test_an_exhibit_writes_over_what_comes_back(services: Services, name: str) -> None:
    """Broken on purpose: its seller has read the stock without these units, and writes it."""
    round = services.rounds.start("apple", name, 10, {"hold": LONG, "think": 1})
    held = owed(services, round)
    thought = Once(lambda: services.holds.put_back(round, [held]))
    assert mode(services, round, HandClock(thought)).sell(order(round)).outcome is Outcome.SOLD
    audit = judge(round, services.rounds.ledgers.of(round).snapshot(round), [], quiet=True)
    assert (audit.left, audit.held) == (6, 1), "three are nobody's"


@pytest.mark.parametrize("name", ["lock:lease", "lock:queue", "watched", "fenced", "fused"])
def test_a_sweep_that_has_lost_its_lock_puts_nothing_back(services: Services, name: str) -> None:
    """A seller has entered since, has read the stock, and will write it."""
    terms = {"hold": LONG, "lease": 600_000, "think": 60_000}
    round = services.rounds.start("apple", name, 10, terms)
    held, keys = owed(services, round), Keys("apple", round.number)
    entered: list[Buyer] = []

    def lose_the_lock() -> None:
        services.store.delete(keys.lock)
        entered.append(Buyer(services, round))

    assert not put_back(services, round, held, {keys.held: Once(lose_the_lock)})
    assert entered[0].finish().outcome is Outcome.SOLD
    assert services.holds.put_back(round, [held])
    assert counted(services, round) == (9, 1, 0)


def test_a_hold_runs_by_the_stores_clock(services: Services) -> None:
    """From the time of its write, whatever the buyer's clock says, or however long it thinks."""
    round = services.rounds.start("apple", "watch", 10, {"hold": LONG, "think": 50})
    made = order(round)
    before = clock.now(services.store)
    mode(services, round).sell(replace(made, at=1))
    hold = services.holds.look(made, round)
    assert hold
    assert before + LONG + 50 <= hold.until <= clock.now(services.store) + LONG


def test_a_hold_that_nobody_looks_at_is_found_by_the_sweep(services: Services) -> None:
    """A worker took it and died before it could answer; the hold expires all the same."""
    round = services.rounds.start("apple", "atomic", 10, {"hold": 1})
    assert mode(services, round).sell(order(round, 4)).outcome is Outcome.SOLD
    assert counted(services, round)[1] == 4, "also before anybody enters it"
    while services.store.time()[1] % 1000 == 999:  # its millisecond is over
        pass
    swept = 0
    while not swept:
        swept = services.sweep.sweep()
    assert counted(services, round) == (10, 0, 0)


def test_what_nobody_can_read_is_no_hold_and_is_told(services: Services) -> None:
    round = started(services, "atomic")
    keys = Keys("apple", round.number)
    services.store.xadd(keys.holds, {"sale": b"{"})
    held = owed(services, round, 2)
    runs_out(services, held)
    services.sweep.sweep()
    audit = judge(round, services.rounds.ledgers.of(round).snapshot(round), [], quiet=True)
    assert (audit.left, audit.held, audit.not_booked) == (10, 0, 1)
