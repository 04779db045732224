"""Random walks: the same commands to the model and to a real server, reply by reply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from badluck.real.server import LiveServer
from badluck.real.wire import Wire
from badluck.report.replay import Microseconds, in_parts
from badluck.simulated.server import Server, Waits
from badluck.simulated.values import Command, Err, Ok, Reply, Undefined
from badluck.target import EPOCH

from tests.integration.explorer.grammar import FAMILIES, command

CLIENTS = ("a", "b", "c")
STEPS = 50  # of one walk; then both begin anew
# For MULTI and WATCH Valkey discards the transaction, Redis 7.0 does not; the others the model says
# that it cannot do there.
NOT_QUEUED = {b"MULTI", b"WATCH", b"SUBSCRIBE", b"SSUBSCRIBE", b"UNSUBSCRIBE", b"SUNSUBSCRIBE"}
PASS, HANG_UP = "time passes", "hangs up"


class Step(NamedTuple):
    who: str
    does: Command | str
    ms: int = 0  # that pass


class Divergence(Exception):
    """Model and server do not agree."""


def walk(seed: int) -> Iterator[Step]:
    """What somebody does, step by step. The same for the same seed."""
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
    """Replies as they travel: the wire makes no difference between +OK and OK that we can see."""
    if isinstance(reply, Err):  # each server has words of its own, and the same first one
        return Err(reply.text.split()[0])
    if isinstance(reply, tuple):
        return tuple(comparable(one) for one in reply)
    if isinstance(reply, Ok):
        reply = reply.encode()
    if isinstance(reply, bytes):
        return in_parts(reply.decode("latin-1"))
    return Microseconds(reply) if isinstance(reply, int) and reply >= EPOCH * 1000 else reply


def answer(command: Command, queued: Sequence[Command], reply: Reply) -> object:
    """A reply to `command`, comparable; `queued` are what an EXEC does."""
    if not isinstance(reply, tuple):
        return comparable(reply)
    if command[0] == b"EXEC":
        return [answer(one, (), said) for one, said in zip(queued, reply, strict=True)]
    if command[0] == b"TIME":
        match reply:
            case (seconds, bytes(microseconds)):
                return (seconds, int(microseconds) // 1000)
    if command[0] == b"XINFO":  # but for the sizes of the server's trees
        told = dict(zip(reply[::2], reply[1::2], strict=True))
        return {
            str(name): comparable(one) for name, one in told.items() if "radix" not in str(name)
        }
    if command[0] == b"SMEMBERS":  # in an order that is the server's secret
        return sorted(map(repr, reply))
    return comparable(reply)


class Judge:
    """Walks with both."""

    def __init__(self, server: LiveServer) -> None:
        self.server = server
        self.steps = 0

    def judge(self, seed: int) -> None:
        """Raises Divergence, which says the seed and what led there.

        What is Undefined ends the walk: nobody can say what is right, nor what follows of it.
        """
        now = EPOCH
        self.server.set(now)
        for word in ((b"FLUSHALL",), (b"SCRIPT", b"FLUSH")):
            self.server.control.ask(word)
        model = Server(now)
        real = {who: self.server.connect() for who in CLIENTS}
        told: list[str] = []
        try:
            for step in walk(seed):
                if step.who in {client.connection for client in model.blocked}:
                    continue  # it waits, and can send nothing
                if step.who in model.queued and step.does[0] in NOT_QUEUED:
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

    def _same(self, model: Server, real: Wire, step: Step, told: list[str]) -> None:
        assert not isinstance(step.does, str)
        queued = tuple(model.queued.get(step.who, ()))
        expected = model.execute(step.who, step.does)
        real.send(step.does)
        if isinstance(expected, Waits):
            return
        told[-1] += f" -> {expected!r}"
        got = real.read()
        if answer(step.does, queued, got) != answer(step.does, queued, expected):
            raise Divergence(f"the model says {expected!r}, the server {got!r}")

    def _heard(self, model: Server, real: dict[str, Wire], told: list[str]) -> None:
        """What others were sent by this step."""
        self.server.settle()
        for who, connection in real.items():
            while who in model.unread:
                expected = model.read(who)
                try:
                    got = connection.read()
                except TimeoutError:
                    raise Divergence(f"{who} should have heard {expected!r}") from None
                told.append(f"  ({who} hears {expected!r})")
                if comparable(got) != comparable(expected):
                    raise Divergence(f"{who} should hear {expected!r}, and heard {got!r}")
            if connection.waiting():
                raise Divergence(f"{who} heard something that the model did not say")
