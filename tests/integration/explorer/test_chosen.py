"""A server's own choice is replaced by the model's, so that schedules can be replayed."""

from __future__ import annotations

from badluck.model.values import Command
from badluck.real_server.backend import RealBackend
from badluck.report.model_backend import ModelBackend
from badluck.target import EPOCH

from tests.integration.explorer.walk import comparable

MEMBERS = tuple(b"ifcahdbge"[at : at + 1] for at in range(9))
SETUP: list[list[Command]] = [
    [
        (b"SADD", b"s", *MEMBERS),
        (b"ZADD", b"z", *(word for score in b"526143" for word in (b"%c" % score, b"m%c" % score))),
        (b"SET", b"t", b"1"),
        (b"SET", b"a", b"1"),
    ]
]
UNITS: list[tuple[Command, ...]] = [
    ((b"SPOP", b"s"),),
    ((b"SRANDMEMBER", b"s"),),
    ((b"SRANDMEMBER", b"s", b"3"),),
    ((b"SRANDMEMBER", b"s", b"-3"),),
    ((b"ZRANDMEMBER", b"z"),),
    ((b"ZRANDMEMBER", b"z", b"3"),),
    ((b"ZRANDMEMBER", b"z", b"-3"),),
    ((b"ZRANDMEMBER", b"none"),),
    ((b"ZRANDMEMBER", b"t"),),
    ((b"SMEMBERS", b"s"),),
    ((b"SSCAN", b"s", b"0"),),
    ((b"MULTI",), (b"SPOP", b"s", b"2"), (b"SMEMBERS", b"s"), (b"EXEC",)),
    ((b"KEYS", b"*"),),
    ((b"SCAN", b"0"),),
    ((b"SPOP", b"s", b"-1"),),
    ((b"SRANDMEMBER", b"s", b"x"),),
    ((b"SPOP", b"t"),),
    ((b"SPOP", b"s", b"99"),),
    ((b"SPOP", b"s"),),
    ((b"SPOP", b"s", b"1"),),
    ((b"SRANDMEMBER", b"s", b"-1"),),
]


def test_a_real_server_chooses_as_the_model_does(real: RealBackend) -> None:
    model = ModelBackend()
    for backend in (model, real):
        backend.begin(EPOCH, SETUP)
    for unit in UNITS:
        expected, got = model.send("0A0", unit), real.send("0A0", unit)
        assert isinstance(expected, tuple)
        assert isinstance(got, tuple)
        assert list(map(comparable, got)) == list(map(comparable, expected)), unit
