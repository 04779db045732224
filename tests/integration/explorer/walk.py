"""Random walks: the same commands to the model and to a real server, reply by reply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from badluck.model.channels import LISTENS
from badluck.model.collections import members_of
from badluck.model.parsing import Undefined
from badluck.model.server import ModelServer
from badluck.model.sorted_sets import scores_of
from badluck.model.values import Command, Double, Err, Hash, Ok, Reply
from badluck.model.waiters import Waits
from badluck.real_server.fixed_choices import DRAWN
from badluck.real_server.server import LiveServer
from badluck.real_server.wire import Wire
from badluck.report.replay import Microseconds, in_parts
from badluck.target import EPOCH

from tests.integration.explorer.grammar import command
from tests.integration.explorer.shapes import FAMILIES

CLIENTS = ("a", "b", "c")
STEPS = 50  # of one walk; then both begin again
# For MULTI and WATCH Valkey discards the transaction, Redis 7.0 does not; for the others the model
# says that it cannot do them there.
NOT_QUEUED = {b"MULTI", b"WATCH", b"WAIT", *LISTENS}
NOT_QUEUED |= DRAWN  # and these: their draw must be visible at once
# Words that Redis 7.0 does not know.
NEWER = {b"IFEQ", b"HEXPIRE", b"HPEXPIRE", b"HEXPIREAT", b"HPEXPIREAT"}
NEWER |= {b"HTTL", b"HPTTL", b"HPERSIST"}
PASS, HANG_UP = "time passes", "hangs up"


class Step(NamedTuple):
    who: str
    does: Command | str
    ms: int = 0  # that pass


class Divergence(Exception):
    """Model and server do not agree."""


def walk(seed: int) -> Iterator[Step]:
    """Yield a client's steps, one by one. The same for the same seed."""
    random = Random(seed)
    family = random.choice(list(FAMILIES))
    for _ in range(STEPS):
        who = random.choice(CLIENTS)
        chance = random.random()
        if chance < 0.08:
            yield Step("", PASS, random.choice([0, 1, 2, 10, 999, 1000, 1001, 5000]))
        elif chance < 0.10:
            yield Step(who, HANG_UP)
        else:
            yield Step(who, command(random, family))


def comparable(reply: Reply) -> object:
    """Return the reply as the wire shows it, where +OK and OK look the same."""
    if isinstance(reply, Err):  # each server has its own words, after the same first one
        return Err(reply.text.split()[0])
    if isinstance(reply, tuple):
        return tuple(comparable(one) for one in reply)
    if isinstance(reply, Ok):
        reply = reply.encode()
    if isinstance(reply, bytes):
        return in_parts(reply.decode("latin-1"))
    return Microseconds(reply) if isinstance(reply, int) and reply >= EPOCH * 1000 else reply


def answer(
    command: Command, queued: Sequence[Command], reply: Reply, tables: bool = False
) -> object:
    """Return a reply to `command` in a comparable form; `queued` are the commands of an EXEC.

    `tables`: there are hashes whose fields had an expiry, and their order is a server's own.
    """
    if not isinstance(reply, tuple):
        return comparable(reply)
    match command[0], reply:
        case b"EXEC", _:
            pairs = zip(queued, reply, strict=True)
            return [answer(one, (), said, tables) for one, said in pairs]
        case b"TIME", (seconds, bytes(microseconds)):
            return (seconds, int(microseconds) // 1000)
        case b"XINFO", _:  # except the sizes of the server's trees
            told = dict(zip(reply[::2], reply[1::2], strict=True))
            return {
                str(name): comparable(one) for name, one in told.items() if "radix" not in str(name)
            }
        case (
            (b"SMEMBERS" | b"SINTER" | b"SUNION" | b"SDIFF" | b"KEYS"),
            _,
        ):  # in an order that is the server's secret
            return sorted(map(repr, reply))
        case ((b"SCAN" | b"SSCAN"), (cursor, tuple(found))):
            return cursor, sorted(map(repr, found))
        case ((b"HKEYS" | b"HVALS"), _) if tables:
            return sorted(map(repr, reply))
        case b"HGETALL", _ if tables:
            return _in_pairs(reply)
        case b"HSCAN", (cursor, tuple(found)) if tables:
            return cursor, _in_pairs(found)
    return comparable(reply)


def _in_pairs(found: tuple[Reply, ...]) -> object:
    return sorted(map(repr, zip(found[::2], found[1::2], strict=True)))


def has_tables(model: ModelServer) -> bool:
    values = [entry.value for entry in model.keys.entries.values()]
    return any(isinstance(value, Hash) and value.expires is not None for value in values)


def in_digits(got: Reply, expected: Reply) -> Reply:
    """Return the server's reply with the model's digits, if the numbers are the same floats."""
    if isinstance(expected, Double) and isinstance(got, bytes):
        return expected if float(got) == float(expected) else got
    if isinstance(expected, tuple) and isinstance(got, tuple) and len(got) == len(expected):
        return tuple(in_digits(*pair) for pair in zip(got, expected, strict=True))
    return got


def _words(reply: Reply) -> tuple[bytes, ...]:
    """Return the members in it."""
    if isinstance(reply, tuple):
        return tuple(word for word in reply if isinstance(word, bytes))
    return (reply,) if isinstance(reply, bytes) else ()


class Judge:
    """Walks with both, and compares them."""

    def __init__(self, server: LiveServer) -> None:
        self.server = server
        self.steps = 0
        about = server.control.ask((b"INFO", b"server"))
        self.lacks = set() if isinstance(about, bytes) and b"valkey_version" in about else NEWER

    def judge(self, seed: int) -> None:
        """Run one walk. Raises Divergence, which names the seed and the steps that led there.

        An Undefined ends the walk: no reply is right there, nor what follows from it.
        """
        now = EPOCH
        self.server.set(now)
        for word in ((b"FLUSHALL",), (b"SCRIPT", b"FLUSH")):
            self.server.control.ask(word)
        model = ModelServer(now)
        real = {who: self.server.connect() for who in CLIENTS}
        told: list[str] = []
        try:
            for step in walk(seed):
                if step.who in {client.connection for client in model.blocked}:
                    continue  # it waits, and can send nothing
                if step.who in model.queued and step.does[0] in NOT_QUEUED:
                    continue
                if self.lacks.intersection(step.does):
                    continue
                self.steps += 1
                told.append(f"{step.who:2}{step.does} {step.ms or ''}")
                if step.does == PASS:
                    now += step.ms
                    self.server.set(now)
                    model.pass_time(now)
                elif step.does == HANG_UP:
                    real[step.who].close()
                    real[step.who] = self.server.connect()
                    model.drop(step.who)
                else:
                    self._same(model, real[step.who], step, told)
                self._heard(model, real, told)
        except Divergence as divergence:
            raise Divergence(f"seed {seed}: {divergence}\n" + "\n".join(told)) from None
        except Undefined:
            pass
        finally:
            for connection in real.values():
                connection.close()

    def _same(self, model: ModelServer, real: Wire, step: Step, told: list[str]) -> None:
        assert not isinstance(step.does, str)
        queued = tuple(model.queued.get(step.who, ()))
        tables = has_tables(model)
        expected = model.execute(step.who, step.does)
        real.send(step.does)
        if isinstance(expected, Waits):
            return
        told[-1] += f" -> {expected!r}"
        got = in_digits(real.read(), expected)
        if step.does[0] in DRAWN:
            got = self._as_drawn(model, step.does, expected, got)
        tables = tables or has_tables(model)
        if answer(step.does, queued, got, tables) != answer(step.does, queued, expected, tables):
            raise Divergence(f"the model says {expected!r}, the server {got!r}")

    def _as_drawn(self, model: ModelServer, command: Command, expected: Reply, got: Reply) -> Reply:
        """Return the model's draw, if the server could have drawn it, and make the server draw it,
        too.
        """
        mine, drawn = _words(expected), _words(got)
        if not mine or type(got) is not type(expected) or len(drawn) != len(mine):
            return got
        key = command[1]
        of = scores_of if command[0] == b"ZRANDMEMBER" else members_of
        left = of(model.keys, key)
        again = command[2:] and command[2].startswith(b"-")
        if not {*drawn} <= {*left, *mine} or (len({*drawn}) < len(drawn) and not again):
            return got
        if command[0] == b"SPOP" and {*drawn} != {*mine}:
            self.server.control.ask((b"SADD", key, *drawn))
            self.server.control.ask((b"SREM", key, *mine))
        return expected

    def _heard(self, model: ModelServer, real: dict[str, Wire], told: list[str]) -> None:
        """Compare the messages that other clients got in this step."""
        self.server.settle()
        for who, connection in real.items():
            while who in model.unread:
                expected = model.read(who)
                try:
                    got = in_digits(connection.read(), expected)
                except TimeoutError:
                    raise Divergence(f"{who} should have heard {expected!r}") from None
                told.append(f"  ({who} hears {expected!r})")
                if comparable(got) != comparable(expected):
                    raise Divergence(f"{who} should hear {expected!r}, and heard {got!r}")
            if connection.waiting():
                raise Divergence(f"{who} heard something that the model did not say")
