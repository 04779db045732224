"""fencekit: a lease with fencing tokens, and a guard that begins once and keeps the result."""

from datetime import timedelta

from fencekit import DistributedLock, FenceGate, IdempotencyGuard
from fencekit.errors import (
    FencedOutError,
    IdempotencyNotOwned,
    IdempotencyResultMissing,
    LockNotAcquired,
)

from matrix.inside import alone, at_most_one, one_at_a_time

TTL = timedelta(seconds=10)


def work(redis, name):
    lock = DistributedLock(redis)
    try:
        handle = lock.acquire("door", ttl=TTL)
    except LockNotAcquired:
        return None
    inside = alone(redis, name)
    lock.release(handle)
    return inside


def write(redis):
    try:
        token = DistributedLock(redis).acquire("door", ttl=TTL).token
        FenceGate(redis).set_if_fresh(token, "value", str(token.value))
    except (LockNotAcquired, FencedOutError):
        return None
    return token.value


def newest_stays(redis, answers):
    wrote = [token for token in answers.values() if token is not None]
    return not wrote or int(redis.get("value")) >= max(wrote)


def begin(redis):
    return IdempotencyGuard(redis).try_begin("job", ttl=TTL)


def finish(redis, name):
    guard = IdempotencyGuard(redis)
    if not guard.try_begin("job", ttl=TTL):
        return None
    try:
        guard.mark_done("job", result=name)
        return guard.get_result("job")
    except IdempotencyNotOwned:
        return None
    except IdempotencyResultMissing:
        return "done, without its result" if guard.status("job") == "done" else None


def done_has_its_result(_, answers):
    return "done, without its result" not in answers.values()


ENTRIES = (
    {
        "library": "fencekit",
        "kind": "lock",
        "what": "`DistributedLock`, 10 s",
        "claim": "Mutual exclusion while lock TTL held (single Redis primary)",
        "actors": [work] * 3,
        "invariant": one_at_a_time,
        "faults": "crash=1,lost=1",
    },
    {
        "library": "fencekit",
        "kind": "lock",
        "what": "`FenceGate.set_if_fresh`, also with a pause",
        "claim": "Stale holder blocked via `FenceGate`",
        "actors": [write] * 3,
        "invariant": newest_stays,
        "faults": "crash=1,lost=1,pause=1",
    },
    {
        "library": "fencekit",
        "kind": "queue",
        "what": "`IdempotencyGuard.try_begin`",
        "claim": "At-most-once *start* within idempotency TTL",
        "actors": [begin] * 3,
        "invariant": at_most_one,
        "faults": "crash=1,lost=1",
    },
    {
        "library": "fencekit",
        "kind": "queue",
        "what": "`mark_done(result=…)`, with a pause of another process",
        "claim": "Memoized result after `mark_done(..., result=...)`",
        "actors": [finish] * 2,
        "invariant": done_has_its_result,
        "faults": "pause=1",
        "why": "`try_begin` is SET NX and then a DEL of an old result. Between these a process may "
        "pause for longer than its TTL. Then its DEL deletes the result of the next process.",
    },
)
