"""Each case of `lastapple transactions`, on real servers: their answers, word for word."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.lab.transactions import CASES, Pair, Result, pair, play
from app.lab.transactions.case import Case
from app.lab.transactions.meaning import DONE_UNSEEN, MEANINGS, meanings
from app.lab.transactions.sides import Say, ServerSide, Valkey
from app.store import embedded
from tests.support.servers import redis_server, until

NAMED = {case.name: case for case in CASES}


@pytest.fixture(scope="module")
def servers() -> Iterator[Pair]:
    with pair() as where:
        yield where


@pytest.fixture(scope="module", params=["valkey", "redis"])
def where(
    request: pytest.FixtureRequest, servers: Pair, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pair]:
    """The command's own two servers, and the same with Debian's Redis for Valkey."""
    if request.param == "valkey":
        yield servers
        return
    folder: Path = tmp_path_factory.mktemp("redis")
    socket = folder / "redis.sock"
    command = [redis_server(), *embedded.command(0, socket, folder, "no")[1:]]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    until(socket.exists)
    yield Pair(str(socket), servers.postgres)
    process.terminate()
    process.wait(10)


def replies(result: Result) -> tuple[list[str], list[str]]:
    valkey, postgresql = (
        [step.reply for step in reading.steps] for reading in (result.valkey, result.postgresql)
    )
    return valkey, postgresql


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.name))
def test_both_servers_behave_as_is_taught(where: Pair, case: Case) -> None:
    result = play(case, where)
    assert result.so == result.taught
    assert result.as_taught
    assert (result.valkey.before, result.postgresql.before) == ("3", "3")


def test_queued_commands_are_seen_by_nobody_before_exec(where: Pair) -> None:
    result = play(NAMED["queued"], where)
    assert replies(result) == (
        ["OK", "QUEUED", "3", "1) OK", "2"],
        ["BEGIN", "UPDATE 1", "2", "3", "COMMIT", "2"],
    )


def test_a_read_inside_multi_comes_too_late(where: Pair) -> None:
    result = play(NAMED["read-inside"], where)
    assert replies(result) == (
        ["OK", "QUEUED", "QUEUED", "1) 3\n2) OK"],
        ["BEGIN", "3", "UPDATE 1", "COMMIT"],
    )


def test_an_error_while_queuing_discards_all(where: Pair) -> None:
    result = play(NAMED["error-while-queuing"], where)
    valkey, postgresql = replies(result)
    assert valkey[2].startswith("(error) ERR unknown command 'STE'")
    assert valkey[3] == "(error) EXECABORT Transaction discarded because of previous errors."
    assert postgresql[2:] == ['ERROR:  syntax error at or near "UPDTE"', "ROLLBACK"]
    assert (result.valkey.after, result.postgresql.after) == ("3", "3")


def test_an_error_inside_exec_undoes_nothing(where: Pair) -> None:
    result = play(NAMED["error-inside-exec"], where)
    valkey, postgresql = replies(result)
    assert valkey[5].splitlines() == [
        "1) OK",
        "2) (error) WRONGTYPE Operation against a key holding the wrong kind of value",
        "3) (integer) 1",
    ]
    assert postgresql[2:] == [
        "ERROR:  division by zero",
        "ERROR:  current transaction is aborted, commands ignored until end of transaction block",
        "ROLLBACK",
    ]
    assert (result.valkey.after, result.postgresql.after) == ("2", "3")


def test_discard_takes_back_nothing_that_was_done(where: Pair) -> None:
    result = play(NAMED["discard"], where)
    valkey, postgresql = replies(result)
    assert valkey[-2:] == ["(error) ERR DISCARD without MULTI", "2"]
    assert postgresql == ["BEGIN", "UPDATE 1", "2", "ROLLBACK", "3"]
    assert (result.valkey.after, result.postgresql.after) == ("2", "3")


def test_watch_notices_and_select_for_update_prevents(where: Pair) -> None:
    result = play(NAMED["watch-notices"], where)
    valkey, postgresql = replies(result)
    assert valkey == ["OK", "3", "OK", "OK", "QUEUED", "(nil)"]
    assert postgresql[3] == "ERROR:  canceling statement due to lock timeout"
    assert (result.valkey.after, result.postgresql.after) == ("1", "2")


def test_a_write_of_the_same_value_is_noticed(where: Pair) -> None:
    result = play(NAMED["same-value"], where)
    valkey, postgresql = replies(result)
    assert valkey[-1] == "(nil)"
    assert postgresql[3] == "ERROR:  could not serialize access due to concurrent update"
    assert (result.valkey.after, result.postgresql.after) == ("3", "3")


def test_unwatch_makes_a_write_in_between_go_unnoticed(where: Pair) -> None:
    result = play(NAMED["unwatch"], where)
    valkey, postgresql = replies(result)
    assert valkey == ["OK", "3", "OK", "OK", "OK", "QUEUED", "1) OK"]
    assert postgresql == ["BEGIN", "3", "ROLLBACK", "UPDATE 1", "BEGIN", "UPDATE 1", "COMMIT"]
    assert (result.valkey.after, result.postgresql.after) == ("2", "2")


def test_a_multi_without_exec_holds_up_nobody_and_a_begin_without_commit_does(where: Pair) -> None:
    result = play(NAMED["no-exec"], where)
    valkey, postgresql = replies(result)
    assert valkey == ["OK", "QUEUED", "3", "OK"]
    assert postgresql[:3] == ["BEGIN", "UPDATE 1", "3"]
    assert postgresql[-1] == "ERROR:  canceling statement due to lock timeout"
    assert (result.valkey.after, result.postgresql.after) == ("1", "3")


def test_each_step_knows_the_stock_that_others_see_after_it(where: Pair) -> None:
    result = play(NAMED["queued"], where)
    assert [step.stock for step in result.valkey.steps] == ["3", "3", "3", "2", "2"]
    assert [step.stock for step in result.postgresql.steps] == ["3", "3", "3", "3", "2", "2"]


def test_every_meaning_is_that_of_some_reply_and_no_refusal_is_without(where: Pair) -> None:
    results = [play(case, where) for case in CASES]
    sides = [side.steps for result in results for side in (result.valkey, result.postgresql)]
    said = [
        (step, words) for steps in sides for step, words in zip(steps, meanings(steps), strict=True)
    ]
    assert {words for _, words in said} == {words for _, _, words in MEANINGS} | {DONE_UNSEEN, ""}
    assert [step.reply for step, words in said if not words and "error" in step.reply.lower()] == []


class Meddled(Valkey):
    """Changes the stock after EXEC, as if the server behaved differently from the text."""

    def client(self, name: str) -> Say:
        return meddling(self, super().client(name), "EXEC", "SET stock 7")


def meddling(side: ServerSide, say: Say, after: str, deed: str) -> Say:
    def meddled(statement: str) -> str:
        reply = say(statement)
        if statement == after:
            side.outside(deed)
        return reply

    return meddled


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("queued", "B reads 3 before EXEC and 7 after it"),
        ("error-while-queuing", "the SET before the error stands"),
        ("discard", "leaves 7"),
        ("watch-notices", "nobody's 7 stands"),
    ],
)
def test_the_conclusion_is_made_of_what_was_read(where: Pair, name: str, found: str) -> None:
    case = NAMED[name]
    with Meddled(where.valkey) as side:
        so = case.valkey(side)
    assert found in so
    assert so != case.taught[0]
