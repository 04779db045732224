"""/metrics: the workers' counts, across deaths and full disks; fulfil's lag; the audits."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families as families

from app import create_lab, create_shop
from app.bootstrap import Services
from app.config import Settings
from app.domain import Outcome, Sale
from app.server.metrics.audits import Audits
from app.service.metrics import places
from app.service.metrics.meter import BUCKETS, Meter
from app.service.purchase import Purchase
from tests.support.forked_process import Forked
from tests.support.http_client import buy
from tests.support.metered_workers import count_without_room, sell
from tests.support.purchases import fulfil_all
from tests.support.servers import until

RUNS_ON = ["valkey"]
PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"
WORD = "only for teachers"
SOLD = 'lastapple_purchases_total{mode="atomic",outcome="SOLD"}'


def scraped(lab: FlaskClient) -> dict[str, float]:
    """Return each sample by its name with its labels, as a Prometheus reads it."""
    answer = lab.get("/metrics")
    assert answer.status_code == 200
    assert answer.mimetype == "text/plain"
    return {
        _name(sample.name, sample.labels): sample.value
        for family in families(answer.text)
        for sample in family.samples
    }


def _name(name: str, labels: dict[str, str]) -> str:
    told = ",".join(f'{label}="{labels[label]}"' for label in sorted(labels))
    return f"{name}{{{told}}}"


def sold(seconds: float = 0.1) -> tuple[str, Sale, float]:
    return "atomic", Sale(Outcome.SOLD), seconds


def test_what_the_workers_counted(
    services: Services, lab: FlaskClient, worker: Callable[[], Purchase]
) -> None:
    services.rounds.start("apple", "atomic", 3, {})
    services.rounds.start("pear", "lock:lease", 3, {})
    shops = [worker(), worker()]
    for shop in shops:
        for item in ("apple", "apple", "pear"):
            shop.buy(item, 1)
    for shop in shops:
        shop.reporter.stop()
    found = scraped(lab)
    assert found[SOLD] == 3
    assert found['lastapple_purchases_total{mode="atomic",outcome="SOLD_OUT"}'] == 1
    assert found['lastapple_purchases_total{mode="lock:lease",outcome="SOLD"}'] == 2
    assert found['lastapple_purchase_attempts_total{mode="lock:lease"}'] >= 2
    assert found['lastapple_purchase_wait_seconds_count{mode="atomic"}'] == 4
    assert 0 < found['lastapple_purchase_wait_seconds_sum{mode="atomic"}'] < 4
    fulfil = 'lastapple_unbooked_sales{item="apple"}'
    assert (found[fulfil], found['lastapple_dead_letters{item="apple"}']) == (3, 0)
    assert found['lastapple_fulfil_lag_seconds{item="apple"}'] > 0
    fulfil_all(services.fulfil)
    assert scraped(lab)[fulfil] == 0


def test_a_wait_is_in_its_bucket(settings: Settings, lab: FlaskClient) -> None:
    meter = Meter(settings.metrics)
    for seconds in (0.0005, 0.001, 0.02, 7, 100):
        meter.count(*sold(seconds))
    meter.stop()
    found = scraped(lab)
    most = {
        str(edge): found[f'lastapple_purchase_wait_seconds_bucket{{le="{edge}",mode="atomic"}}']
        for edge in (0.001, 0.025, 10.0, 60.0, "+Inf")
    }
    assert most == {"0.001": 2, "0.025": 3, "10.0": 4, "60.0": 4, "+Inf": 5}
    assert [*BUCKETS] == sorted(BUCKETS)


def test_a_killed_worker_loses_its_last_beat_at_most(
    services: Services, settings: Settings, lab: FlaskClient
) -> None:
    """Really killed. The next worker continues from the file in its place: no figure falls."""
    services.rounds.start("apple", "atomic", 100, {})
    first = Forked(sell, settings)
    assert first.says() == "ready"
    assert first.ask(7) == "sold"
    until(lambda: scraped(lab).get(SOLD) == 7, 5)
    first.freeze()  # no heartbeat any more
    first.tell(4)
    first.kill()
    assert scraped(lab)[SOLD] == 7
    second = Forked(sell, settings)
    assert second.says() == "ready"
    assert second.ask(2) == "sold"
    until(lambda: scraped(lab)[SOLD] == 9, 5)
    second.kill()
    assert scraped(lab)[SOLD] == 9
    assert len(places.files(settings.metrics)) == 2, "one place: its counters, its histogram"


def test_each_living_worker_has_a_place_and_a_new_start_begins_at_0(
    settings: Settings, lab: FlaskClient
) -> None:
    one, two = Meter(settings.metrics), Meter(settings.metrics)
    for meter in (one, two, two):
        meter.count(*sold())
        meter.write()
    assert scraped(lab)[SOLD] == 3
    two.stop()
    places.wipe(settings.metrics)
    assert scraped(lab)[SOLD] == 1, "who lives keeps what it has"
    one.stop()
    places.wipe(settings.metrics)
    assert SOLD not in scraped(lab)


def test_on_a_full_disk_a_worker_goes_on_without_figures(
    settings: Settings, lab: FlaskClient
) -> None:
    """Writing through memory into a file without room would kill it (SIGBUS)."""
    full = Forked(count_without_room, settings)
    assert full.says() is True
    assert full.ends() == 0
    assert SOLD not in scraped(lab)


def test_who_gets_no_files_gives_the_place_back(settings: Settings) -> None:
    settings.metrics.mkdir()
    (settings.metrics / "histogram_1.db").mkdir()
    with pytest.raises(IsADirectoryError) as refused:
        places.WorkerFiles(settings.metrics)
    (settings.metrics / "histogram_1.db").rmdir()
    next_one = places.WorkerFiles(settings.metrics)
    assert next_one.number == 1, "although the error still holds all that was made"
    next_one.leave()
    assert refused.value


def test_all_modes_have_room_in_a_place(settings: Settings, lab: FlaskClient) -> None:
    """Beyond it the file would grow without asking the disk."""
    meter = Meter(settings.metrics)
    for number in range(40):  # there are some thirty, with all recipes
        for outcome in Outcome:
            meter.count(f"read_before_watch_{number:03}", Sale(outcome), 0.1)
    meter.write()
    for file in places.files(settings.metrics):
        there = Path(file).stat()
        room = places.ROOM[Path(file).name.partition("_")[0]]
        assert there.st_size == room
        assert there.st_blocks * 512 >= room, "all of it is on the disk"
    meter.stop()


def test_an_audit_is_told_and_no_scrape_makes_one(
    services: Services, settings: Settings, lab: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks, look = list[Audits](), Audits._look

    def looking(self: Audits) -> None:
        looks.append(self)
        look(self)

    monkeypatch.setattr(Audits, "_look", looking)
    services.rounds.start("apple", "atomic", 10, {})
    buy(create_shop(settings).test_client(), {"quantity": 3})
    fulfil_all(services.fulfil)
    assert 'lastapple_audit_round{item="apple"}' not in scraped(lab), "it is made beside the first"
    until(lambda: 'lastapple_audit_round{item="apple"}' in scraped(lab), 10)
    found = scraped(lab)
    assert [
        found[f'lastapple_audit_{name}_units{{item="apple"}}']
        for name in ("stocked", "left", "held", "sold", "oversold", "undersold")
    ] == [10, 7, 0, 3, 0, 0]
    assert abs(found['lastapple_audit_timestamp_seconds{item="apple"}'] - time.time()) < 60
    for _ in range(5):
        scraped(lab)
    assert len(looks) == 1, "of all those who asked within a minute"


def test_what_is_held_is_seen(
    services: Services, settings: Settings, lab: FlaskClient, worker: Callable[[], Purchase]
) -> None:
    services.rounds.start("apple", "atomic", 10, {"hold": 60_000})
    shop = worker()
    shop.buy("apple", 2)
    shop.reporter.stop()
    until(lambda: 'lastapple_audit_round{item="apple"}' in scraped(lab), 10)
    found = scraped(lab)
    assert found['lastapple_purchases_total{mode="atomic",outcome="HELD"}'] == 1
    assert found['lastapple_audit_held_units{item="apple"}'] == 2


def test_the_store_away_is_a_figure(settings: Settings) -> None:
    nowhere = replace(settings, redis_url="redis://127.0.0.1:1", store_timeout=300)
    found = scraped(create_lab(nowhere).test_client())
    assert found["lastapple_store_up{}"] == 0
    assert 'lastapple_unbooked_sales{item="apple"}' not in found


def test_behind_a_token_prometheus_shows_it_in_a_header(settings: Settings) -> None:
    lab = create_lab(replace(settings, lab_token=WORD)).test_client()
    for shown, status in (("", 403), ("Bearer nonsense", 403), (f"Bearer {WORD}", 200)):
        assert lab.get("/metrics", headers={"Authorization": shown}).status_code == status


def test_no_customer_can_ask_for_it(settings: Settings) -> None:
    assert create_shop(settings).test_client().get("/metrics").status_code == 404


def test_the_page_has_a_sample_of_it_and_says_each_name(
    services: Services, settings: Settings, lab: FlaskClient
) -> None:
    """By Prometheus' conventions: a counter ends with _total, times are in seconds."""
    services.rounds.start("apple", "atomic", 10, {})
    meter = Meter(settings.metrics)
    meter.count(*sold())
    meter.stop()
    until(lambda: 'lastapple_audit_round{item="apple"}' in scraped(lab), 10)
    real = {family.name: family for family in families(lab.get("/metrics").text)}
    page = PAGE.read_text()
    sample = "\n".join(
        line.strip()
        for line in page.partition("## A scrape")[2].splitlines()
        if line.startswith("    ")
    )
    shown = {family.name: family for family in families(sample + "\n")}
    assert shown.keys() == real.keys()
    for name, family in real.items():
        assert (shown[name].type, shown[name].documentation) == (family.type, family.documentation)
        assert f"`{name}{'_total' if family.type == 'counter' else ''}`" in page
        assert {each.name for each in shown[name].samples} == {each.name for each in family.samples}
        assert not name.endswith(("_ms", "_milliseconds"))
