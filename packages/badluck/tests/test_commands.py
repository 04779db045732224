"""Commands through redis-py: what it makes of the model's replies, and what is found with them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from badluck import Explorer, Faults, Program, StateRule, View
from badluck.model.commands import TABLE

README = Path(__file__).parents[1] / "README.md"
ANSWERED = """
from redis import ResponseError

def run(redis, name):
    if name == "B":
        return ""
    assert redis.zadd("z", {"a": 1, "b": 2.5}) == 2
    assert redis.zadd("z", {"a": 3, "b": 1}, gt=True, ch=True) == 1
    assert redis.zadd("z", {"b": 0.5}, incr=True) == 3.0
    assert redis.zincrby("z", 0.25, "b") == 3.25
    assert [tuple(pair) for pair in redis.zrange("z", 0, -1, withscores=True)] == [
        (b"a", 3.0), (b"b", 3.25)
    ]
    assert redis.zrange("z", "(3", "+inf", byscore=True) == [b"b"]
    assert redis.zrevrange("z", 0, 0) == [b"b"]
    assert redis.zrank("z", "b") == 1
    assert redis.zmscore("z", ["a", "nobody"]) == [3.0, None]
    assert redis.zcount("z", 3, "(3.25") == 1
    assert redis.zremrangebyscore("z", 3, 3) == 1
    assert [tuple(pair) for pair in redis.zpopmax("z")] == [(b"b", 3.25)]
    redis.sadd("s", "b", "a", "c")
    assert redis.spop("s") == b"a"
    assert redis.srandmember("s", 2) == [b"b", b"c"]
    assert redis.smove("s", "t", "b")
    assert list(redis.sscan_iter("s")) == [b"c"]
    assert sorted(redis.scan_iter(match="[st]")) == [b"s", b"t"]
    assert redis.keys("?") == [b"s", b"t"]
    assert float(redis.incrbyfloat("n", 0.1)) == 0.1
    assert float(redis.hincrbyfloat("h", "n", 1.5)) == 1.5
    assert dict(redis.hscan_iter("h")) == {b"n": b"1.5"}
    assert redis.hexpire("h", 10, "n", "none") == [1, -2]
    assert redis.httl("h", "n") == [10]
    redis.setbit("bits", 3, 1)
    assert (redis.getbit("bits", 3), redis.bitcount("bits")) == (1, 1)
    assert redis.getex("n", px=1000) == b"0.1"
    assert redis.pttl("n") == 1000
    redis.rpush("l", "a", "b")
    assert redis.blmove("l", "l", 1, "LEFT", "RIGHT") == b"a"
    assert redis.lmpop(1, "l", direction="LEFT", count=2) == [b"l", [b"b", b"a"]]
    redis.xgroup_create("x", "g", mkstream=True)
    id = redis.xadd("x", {"job": "1"})
    [[_, entries]] = redis.xreadgroup("g", "me", {"x": ">"})
    assert [tuple(entry) for entry in entries] == [(id, {b"job": b"1"})]
    [waits] = redis.xpending_range("x", "g", "-", "+", 10)
    assert (waits["message_id"], waits["times_delivered"]) == (id, 1)
    assert redis.xrange("x", b"(" + id) == []
    assert redis.xack("x", "g", id) == 1
    assert redis.wait(1, 100) == 0
    redis.zadd("z", {"a": 1, "b": 2})
    redis.zadd("y", {"b": 0.5, "c": 3})
    pairs = redis.zunion({"z": 1, "y": 2}, withscores=True)
    assert [tuple(pair) for pair in pairs] == [(b"a", 1.0), (b"b", 3.0), (b"c", 6.0)]
    assert (redis.zinterstore("both", ["z", "y"]), redis.zscore("both", "b")) == (1, 2.5)
    assert redis.zdiff(["z", "y"]) == [b"a"]
    assert redis.zrangestore("best", "z", 0, 0, desc=True) == 1
    assert redis.zrandmember("best") == b"b"
    redis.sadd("s", "c", "d")
    assert redis.sunionstore("u", "s", "t") == 3
    assert redis.sintercard(2, ["u", "s"]) == 2
    redis.xadd("x", {"job": "2"}, maxlen=1, approximate=False)
    assert (redis.xlen("x"), redis.xtrim("x", maxlen=1), redis.xlen("x")) == (1, 0, 1)
    redis.setrange("n", 5, "x")
    assert redis.getrange("n", 0, 2) == b"0.1"
    assert redis.copy("n", "m")
    channel = redis.pubsub(ignore_subscribe_messages=True)
    channel.psubscribe("orders:*")
    channel.get_message()
    redis.publish("orders:7", "paid")
    told = channel.get_message(timeout=1)
    assert (told["type"], told["channel"], told["data"]) == ("pmessage", b"orders:7", b"paid")
    channel.close()
    redis.flushdb()
    assert redis.keys() == []
    redis.rpush("l", "a", "c")
    assert redis.linsert("l", "BEFORE", "c", "b") == 3
    assert redis.lpos("l", "c", rank=1) == 2
    try:
        redis.zadd("l", {"a": 1})
    except ResponseError:
        return ""
    raise AssertionError("a list is no sorted set")
"""
CLAIMS = """
def run(redis, name):
    for job in redis.zrange("jobs", 0, 0):
        redis.zrem("jobs", job)
        redis.incr("done")
    return ""
"""
POPS = """
def run(redis, name):
    for job, _ in redis.zpopmin("jobs"):
        redis.incr("done")
    return ""
"""
WAITS = """
def run(redis, name):
    if name == "A":
        redis.{puts}
        return ""
    return str(redis.{waits})
"""
PAIRS = [
    ('zadd("k", {"job": 1})', 'bzpopmin("k")'),
    ('rpush("k", "job")', 'blmove("k", "l", 0)'),
    ('rpush("k", "job")', 'brpoplpush("k", "l")'),
    ('xadd("k", {"job": 1})', 'xread({"k": 0}, block=0)'),
    ('xadd("tasks", {"job": 1})', 'xreadgroup("g", "me", {"tasks": ">"}, block=0)'),
]


def _twice(view: View) -> bool:
    return int(view.book.keys.get("done", 0)) > 1


TWICE = StateRule("twice", "A job was done twice.", _twice)


def written(folder: Path, code: str) -> Program:
    path = folder / "work.py"
    path.write_text(code)
    prepare = [("ZADD", "jobs", 1, "mail"), ("XGROUP", "CREATE", "tasks", "g", "0", "MKSTREAM")]
    return Program(path, prepare, [TWICE])


def test_redis_py_reads_what_it_is_answered(tmp_path: Path) -> None:
    report = Explorer(written(tmp_path, ANSWERED), 2).explore(Faults())
    assert (report.exhaustive, report.findings) == (True, [])


def test_a_job_that_is_looked_at_before_it_is_taken_is_done_twice(tmp_path: Path) -> None:
    (twice,) = Explorer(written(tmp_path, CLAIMS), 2).explore(Faults()).findings
    assert twice.name == "twice"
    assert Explorer(written(tmp_path, POPS), 3).explore(Faults()).findings == []


@pytest.mark.parametrize(("puts", "waits"), PAIRS)
def test_who_waits_is_served_or_stuck(tmp_path: Path, puts: str, waits: str) -> None:
    program = written(tmp_path, WAITS.format(puts=puts, waits=waits))
    report = Explorer(program, 2).explore(Faults())
    assert (report.exhaustive, report.findings) == (True, [])
    (stuck,) = Explorer(program, 2).explore(Faults(crash=1)).findings
    assert stuck.name == "stuck forever"


def test_the_readme_names_every_command() -> None:
    section = README.read_text().partition("## What the model of Redis knows")[2].partition("##")[0]
    rows = re.findall(r"^\| [a-z ]+ \| ([A-Z ]+) \|$", section, re.MULTILINE)
    assert sorted(" ".join(rows).split()) == sorted(name.decode() for name in TABLE)
