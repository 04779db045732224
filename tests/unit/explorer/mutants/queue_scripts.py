"""Ways to break the scripts of a lock with a line in front of it."""

from __future__ import annotations

from badluck.faults import Faults

from app.explorer.targets import Target
from tests.unit.explorer.mutants.mutant import Budget, Mutant

FUSED = Budget(Target("fused"))  # the write travels with the release
PAUSE = FUSED._replace(faults=Faults(pause=1))
WORK = Budget(Target("lock:queue"))
LONG_WORK = Budget(Target("lock:queue", think=15_000))  # longer than its lease
IMPATIENT = Budget(Target("lock:queue", think=15_000, wait=5_000))

IN_ACQUIRE, IN_HAND_OVER = "fairlock/lua/acquire.lua", "fairlock/lua/hand_over.lua"
IN_RELEASE, IN_TAKE = "fairlock/lua/release.lua", "fairlock/lua/take.lua"
IN_LEAVE = "fairlock/lua/leave.lua"
OWNER = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then"

MUTANTS = [
    Mutant(
        "queue/acquire.lua: every buyer gets the lock at once",
        IN_ACQUIRE,
        "if not holder or (again and holder == token) then",
        "if true then",
        WORK,
        "oversell",
    ),
    Mutant(
        "queue/acquire.lua: a waiter gets the lock when it asks again",
        IN_ACQUIRE,
        "(again and holder == token)",
        "again",
        LONG_WORK,
        "oversell",
    ),
    Mutant(
        "queue/acquire.lua: a waiter that asks again takes a second place",
        IN_ACQUIRE,
        "    return redis.call('LPOS', KEYS[2], place) or -1\n",
        "",
        LONG_WORK,
        "lock left behind",
    ),
    Mutant(
        "queue/hand_over.lua: the lock never ends",
        IN_HAND_OVER,
        "redis.call('SET', KEYS[1], token, 'PX', ms)",
        "redis.call('SET', KEYS[1], token)",
        FUSED._replace(faults=Faults(crash=1), most=1_500),
        "lock leaked",
    ),
    Mutant(
        "queue/hand_over.lua: calls the next one without giving it the lock",
        IN_HAND_OVER,
        "      hold(token, taken and lease or ms)\n",
        "",
        FUSED._replace(buyers=3),
        "stalled",
    ),
    Mutant(
        "queue/hand_over.lua: gives the lock and sends no call",
        IN_HAND_OVER,
        "if redis.call('SPUBLISH', channel, cjson.encode(word)) > 0 then",
        "if true then",
        FUSED,
        "stalled",
    ),
    Mutant(
        "queue/hand_over.lua: tells two buyers that they have the lock",
        IN_HAND_OVER,
        "      post_watch(process, taken and lease or ms)\n",
        "      local second = cjson.decode(redis.call('LPOP', KEYS[2]) or '[0, 0, \"\"]')\n"
        "      redis.call('SPUBLISH', second[3], cjson.encode({second[7], 'taken', '0'}))\n",
        WORK._replace(buyers=3),
        "two holders",
    ),
    Mutant(
        "queue/release.lua: the owner is not compared",
        IN_RELEASE,
        OWNER,
        "if false then",
        PAUSE,
        "oversell",
    ),
    Mutant(
        "queue/release.lua: frees the lock and sends no call",
        IN_RELEASE,
        "hand_over(ARGV[2])",
        "redis.call('DEL', KEYS[1])",
        FUSED,
        "stalled",
    ),
    Mutant(
        "queue/release.lua: does not free it",
        IN_RELEASE,
        "hand_over(ARGV[2])",
        "",
        FUSED,
        "stalled",
    ),
    Mutant(
        "queue/release.lua: hands it over and writes nothing",
        IN_RELEASE,
        "not redis.call(unpack(ARGV, at + 1, at + words))",
        "false",
        FUSED,
        "oversell",
    ),
    Mutant(
        "queue/take.lua: the owner is not compared",
        IN_TAKE,
        OWNER,
        "if redis.call('EXISTS', KEYS[1]) == 0 then",
        LONG_WORK._replace(faults=Faults(pause=1)),
        "lock renewed by another",
    ),
    Mutant(
        "queue/take.lua: accepts it and does not prolong it",
        IN_TAKE,
        "redis.call('PEXPIRE', KEYS[1], lease)\n",
        "",
        LONG_WORK,
        "oversell",
    ),
    Mutant(
        "queue/acquire.lua: grants the lock, but does not take it",
        IN_ACQUIRE,
        "  hold(token, lease)\n",
        "",
        WORK,
        "oversell",
    ),
    Mutant(
        "queue/leave.lua: a called buyer leaves, and does not pass the lock on",
        IN_LEAVE,
        "  hand_over('')\n",
        "",
        Budget(Target("lock:queue", think=15_000, wait=15_000)),
        "lock left behind",
    ),
    Mutant(
        "queue/leave.lua: hands over what is another's",
        IN_LEAVE,
        "redis.call('GET', KEYS[1]) == ARGV[1]",
        "redis.call('GET', KEYS[1])",
        IMPATIENT,
        "lock deleted by another",
    ),
]
