"""The confirmed sales that a crash and a failover lose, at each DURABILITY.

`make test` runs a fault once where it can lose a sale and where it must not; `make soak` runs each
twenty times at each level, and prints a line for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from app.bootstrap import Services
from tests.integration.durability.buyers import Crowd
from tests.integration.durability.conftest import Pair, pair_in, promote
from tests.support.data_loss import cut, length
from tests.support.servers import until

ShopOver = Callable[..., Services]
BUYERS = 8
FSYNC = {"fast": "everysec", "safe": "always", "replicated": "always"}


def crash(pair: Pair, crowd: Crowd) -> None:
    """Kill the store's process, and start it again."""
    pair.store.kill()
    crowd.stop.set()
    pair.store.start()


def power_cut(pair: Pair, crowd: Crowd) -> None:
    """Cut off the last second of the log, which everysec may have left unsynced."""
    synced = length(pair.store.folder)
    time.sleep(1)
    pair.store.kill()
    crowd.stop.set()
    cut(pair.store.folder, synced)
    pair.store.start()


def failover(pair: Pair, crowd: Crowd) -> None:
    """Disconnect the replica for a moment; then the store is gone for good.

    A freeze would lose nothing: what was sent to the replica waits in its socket.
    """
    with pair.replica.client() as client:
        client.execute_command("REPLICAOF", "127.0.0.1", "1")  # no server listens there
    before = len(crowd.told)
    if crowd.services.settings.durability == "replicated":
        time.sleep(0.3)
    else:
        until(lambda: len(crowd.told) > before + 20)
    pair.store.kill()
    crowd.stop.set()
    promote(pair.replica)


def taken(
    folder: Path, shop_over: ShopOver, level: str, fault: Callable[[Pair, Crowd], None]
) -> tuple[int, int]:
    """Return the number of confirmed sales, and how many of them are lost."""
    pair = pair_in(folder, appendfsync=FSYNC[level])
    try:
        crowd = Crowd(shop_over(pair.store, level, folder), BUYERS)
        with crowd.buying():
            until(lambda: len(crowd.told) > 100, 30)
            fault(pair, crowd)
        after = shop_over(pair.replica if fault is failover else pair.store, "safe", folder)
        return len(crowd.told), crowd.lost(after)
    finally:
        pair.stop()


# Does it lose anything? None: it may, and mostly does not. The soak runs all, `make test` three.
CASES = [
    pytest.param("safe", crash, False, id="safe-crash"),
    pytest.param("safe", failover, True, id="safe-failover"),
    pytest.param("replicated", failover, False, id="replicated-failover"),
]
RARE = [
    pytest.param("fast", crash, None, id="fast-crash"),
    pytest.param("fast", power_cut, True, id="fast-power-cut"),
    pytest.param("fast", failover, True, id="fast-failover"),
    pytest.param("replicated", crash, False, id="replicated-crash"),
]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    soak = metafunc.config.getoption("--runs")
    metafunc.parametrize(("level", "fault", "loses"), CASES + RARE if soak else CASES)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_what_buyers_were_told(
    disk: Path,
    shop_over: ShopOver,
    level: str,
    fault: Callable[[Pair, Crowd], None],
    loses: bool | None,
    runs: int,
) -> None:
    found = [taken(disk / str(run), shop_over, level, fault) for run in range(runs)]
    lost = [lost for _, lost in found]
    print(
        f"\n{level}, {fault.__name__}: {runs} runs, {sum(told for told, _ in found)} told, "
        f"{sum(lost)} lost, in {sum(map(bool, lost))} of the runs, {max(lost)} at most",
        flush=True,
    )
    assert loses is None or all(bool(each) is loses for each in lost)
