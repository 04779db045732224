"""The store's replies come late: no buyer gets a wrong answer, however many share a worker."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from app import create_shop
from app.bootstrap import Services
from app.config import Settings
from tests.support.reply_proxy import DelaysReplies
from tests.support.servers import StoreServer

RUNS_ON = ["valkey"]
THREADS = 32
PRESSES = 320


def test_an_answer_is_an_outcome_or_in_doubt(
    services: Services, settings: Settings, store_server: StoreServer
) -> None:
    """Each press in doubt gets the key under which it finds its order."""
    round = services.rounds.start("apple", "atomic", PRESSES, {})
    timeout_s = 0.3
    proxy = DelaysReplies(store_server, [share * timeout_s for share in (0, 0.3, 0.9, 1.1, 1.5)])
    delayed = replace(settings, redis_url=proxy.url, store_timeout=int(timeout_s * 1000))
    shop, direct = create_shop(delayed), create_shop(settings).test_client()

    def press(_: int) -> tuple[int, dict[str, Any]]:
        answer = shop.test_client().post("/buy/apple", json={})
        return answer.status_code, answer.get_json()

    try:
        with ThreadPoolExecutor(THREADS) as pool:
            answers = list(pool.map(press, range(PRESSES)))
    finally:
        proxy.close()
    assert Counter(status for status, _ in answers).keys() == {201, 503}
    keys = [said["idempotency_key"] for status, said in answers if status == 503]
    found = [direct.post("/buy/apple", json={}, headers={"Idempotency-Key": key}) for key in keys]
    assert {answer.status_code for answer in found} == {201}
    orders = {said["order"] for status, said in answers if status == 201}
    orders |= {answer.get_json()["order"] for answer in found}
    assert (len(orders), services.rounds.left(round)) == (PRESSES, 0)
