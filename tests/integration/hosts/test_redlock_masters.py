"""All hosts that sell in a round of lock:redlock must use the same masters."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.bootstrap import Services
from app.domain import CannotSell, Invalid, Outcome, Round, Stands
from app.ops.readiness import State
from app.service.purchase import Purchase
from app.store.clients.masters import Masters
from app.store.keys import Keys
from tests.integration.hosts.conftest import NewHost
from tests.support.servers import StoreServer, until

RUNS_ON = ["valkey"]

NewWorker = Callable[[Services], Purchase]


def start(host: Services, **times: int) -> Round:
    return host.rounds.start("apple", "lock:redlock", 20, times)


def sells(worker: Purchase) -> bool:
    return worker.buy("apple", 1).sale.outcome is Outcome.SOLD


def refusal(worker: Purchase) -> str:
    """Return why the worker's host cannot sell, as its log has it."""
    with pytest.raises(CannotSell) as refused:
        worker.buy("apple", 1)
    return str(refused.value)


def left_by(worker: Purchase) -> bool:
    """Let the worker beat once: has it left its rounds?"""
    worker.running_rounds.refresh()
    return not worker.running_rounds.selling


def failing(host: Services) -> dict[str, str]:
    found = host.readiness._checks()
    return {each.name: each.sentence for each in found if each.state is State.FAILING}


def test_a_host_with_other_masters_sells_nothing(
    masters: list[StoreServer], new_host: NewHost, new_worker: NewWorker
) -> None:
    here, there = new_host(masters[:3]), new_host(masters[3:])
    round = start(here)
    assert len(set(round.masters.split(","))) == 3
    assert "127.0.0.1" not in round.masters
    assert sells(new_worker(here))
    said = refusal(new_worker(there))
    assert said.startswith("This host cannot sell in lock:redlock: master 1 is not one of those")
    assert failing(there) == {"rounds": said}
    assert failing(here) == {}
    assert here.rounds.left(round) == 19


def test_masters_are_the_same_by_any_address(
    masters: list[StoreServer], new_host: NewHost, new_worker: NewWorker
) -> None:
    here = new_host(masters[:3])
    there = new_host([f"redis://localhost:{each.port}/0" for each in reversed(masters[:3])])
    start(here)
    assert sells(new_worker(here))
    assert sells(new_worker(there))


def test_each_master_of_a_host_must_be_one_of_the_round(
    masters: list[StoreServer], new_host: NewHost, new_worker: NewWorker
) -> None:
    """A majority is not enough: with one foreign master, two hosts have two majorities."""
    start(new_host(masters[:3]))
    assert "master 3 is not one" in refusal(new_worker(new_host(masters[1:4])))
    more = refusal(new_worker(new_host(masters[:5])))
    assert "the round has 3 masters, and this host has 5" in more


def test_a_minority_may_be_away(
    masters: list[StoreServer], new_host: NewHost, new_worker: NewWorker
) -> None:
    here = new_host(masters[:3])
    start(here)
    worker = new_worker(here)
    assert sells(worker)
    masters[1].kill()
    worker.running_rounds.refresh()
    assert sells(worker)
    assert sells(new_worker(new_host(masters[:3])))
    assert failing(here) == {}
    masters[1].start()
    worker.running_rounds.refresh()
    assert sells(worker), "a restarted master keeps its identity"


def test_without_a_majority_nothing_is_tried(
    masters: list[StoreServer], new_host: NewHost, new_worker: NewWorker
) -> None:
    here = new_host(masters[:3])
    start(here)
    worker = new_worker(here)
    assert sells(worker)
    for master in masters[:2]:
        master.kill()
    until(lambda: left_by(worker))
    assert "1 of 3 masters answers, and a lock needs 2" in refusal(worker)
    for master in masters[:2]:
        master.start()
    until(lambda: not failing(here))
    assert sells(worker)


def test_a_purchase_waits_for_no_look_at_the_masters(
    masters: list[StoreServer],
    new_host: NewHost,
    new_worker: NewWorker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A worker looks when it enters a round, and with each beat."""
    looks: list[str] = []
    mismatch = Masters.mismatch

    def counted(masters: Masters, listed: str) -> str:
        looks.append(listed)
        return mismatch(masters, listed)

    monkeypatch.setattr(Masters, "mismatch", counted)
    here = new_host(masters[:3])
    round = start(here)
    worker = new_worker(here)
    assert all(sells(worker) for _ in range(5))
    assert looks == [round.masters]
    worker.running_rounds.refresh()
    assert looks == [round.masters] * 2


def test_a_master_that_lost_its_data_ends_the_round(
    masters: list[StoreServer], new_host: NewHost, new_worker: NewWorker
) -> None:
    here = new_host(masters[:3])
    start(here)
    worker = new_worker(here)
    assert sells(worker)
    with masters[2].client() as client:
        client.flushall()
    until(lambda: left_by(worker))
    said = refusal(worker)
    assert "If that master lost its data, start a new round." in said
    start(here)
    assert sells(worker), "at once: no older look at the masters counts"


def test_a_round_starts_only_while_all_masters_answer(
    masters: list[StoreServer], new_host: NewHost
) -> None:
    here = new_host(masters[:3])
    masters[1].kill()
    with pytest.raises(Invalid, match="Master 2 of lock:redlock does not answer"):
        start(here)
    assert here.rounds.newest("apple") is None


def test_two_addresses_of_one_master_are_no_two_masters(
    masters: list[StoreServer], new_host: NewHost
) -> None:
    twice = [f"redis://localhost:{masters[0].port}/0", *masters[:2]]
    with pytest.raises(Invalid, match="Two of REDLOCK_URLS lead to one server"):
        start(new_host(twice))


def test_a_round_of_an_older_version_gets_the_masters_of_the_first_host(
    masters: list[StoreServer], new_host: NewHost, new_worker: NewWorker
) -> None:
    here, there = new_host(masters[:3]), new_host(masters[3:])
    round = start(here)
    names = Keys("apple", round.number)
    old = round.encode().replace(f',"masters":"{round.masters}"'.encode(), b"")
    assert b"masters" not in old
    here.store.set(names.record, old)
    assert here.rounds.find("apple").masters == ""
    assert sells(new_worker(here))
    assert here.rounds.find("apple") == round
    assert "not one of" in refusal(new_worker(there))


def test_units_come_back_under_the_lock_of_the_round_only(
    masters: list[StoreServer], new_host: NewHost, new_worker: NewWorker
) -> None:
    """The sweep of another host would write the stock under a lock of its own."""
    here, there = new_host(masters[:3]), new_host(masters[3:])
    round = start(here, hold=60_000)
    order = new_worker(here).buy("apple", 1).sale.order
    assert order
    assert there.holds.give_up(order, Stands.CANCELLED).owed
    assert here.rounds.left(round) == 19
    assert not here.holds.give_up(order, Stands.CANCELLED).owed
    assert here.rounds.left(round) == 20


def test_a_key_that_has_bought_answers_everywhere(
    masters: list[StoreServer], new_host: NewHost, new_worker: NewWorker
) -> None:
    here, there = new_host(masters[:3]), new_host(masters[3:])
    start(here)
    sold = new_worker(here).buy("apple", 1, "key").sale.order
    assert new_worker(there).buy("apple", 1, "key").sale.order == sold
