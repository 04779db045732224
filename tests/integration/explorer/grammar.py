"""Random commands, mostly right and sometimes not, on few keys: so that they meet."""

from __future__ import annotations

from random import Random

from badluck.simulated.scripts import sha
from badluck.simulated.values import Command
from badluck.target import EPOCH

from tests.integration.explorer import scripts

KEYS = (b"k", b"l", b"m")
VALUES = (b"a", b"b", b"1", b"2", b"-7", b"01", b"")
NUMBERS = (b"0", b"1", b"2", b"-1", b"-2", b"10", b"x", b"9223372036854775807")
SCRIPTS = (
    b"return redis.call('GET', KEYS[1])",
    b"if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0",
    b"redis.call('SET', KEYS[1], ARGV[1], 'PX', 1000) return {1, redis.call('PTTL', KEYS[1])}",
    b"return redis.pcall('INCR', KEYS[1])",
    b"return {tonumber(ARGV[1]) or 'none', false, 3.7}",
    b"return cjson.decode(cjson.encode({ARGV[1], 2}))",
    b"redis.call('RPUSH', KEYS[1], ARGV[1]) return redis.call('LRANGE', KEYS[1], 0, -1)",
    b"return redis.call('SPUBLISH', 'ch', ARGV[1])",
    b"redis.call('APPEND', KEYS[1], ARGV[1]) appended = true return 1",
    b"local well = pcall(redis.call, 'INCR', KEYS[1]) return {tostring(well), nil, 3}",
    b"redis.call('DEL', KEYS[1]) error({err = 'SO it is'})",
    b'local told = cjson.decode(\'{"id":"a","of":{"n":[1,2.5,true]}}\')'
    b" return {told.id, told.of.n[1], tostring(told.of.n[3]), tostring(told.none)}",
)


def _key(random: Random) -> bytes:
    return random.choice(KEYS)


def _value(random: Random) -> bytes:
    return random.choice(VALUES)


def _number(random: Random) -> bytes:
    return random.choice(NUMBERS)


def _index(random: Random) -> bytes:
    return random.choice((b"0", b"1", b"-1", b"-2", b"7"))


def _ms(random: Random) -> bytes:
    return random.choice((b"1", b"2", b"10", b"1000", b"1001", b"0", b"-5"))


def _moment(random: Random) -> bytes:
    return b"%d" % (EPOCH + random.choice((-1, 0, 1, 2, 1000, 5000)))


def _score(random: Random) -> bytes:
    return random.choice((b"0", b"1", b"2", b"-7", b"%d" % EPOCH, b"+inf", b"-inf", b"x", b"1e3"))


def _bound(random: Random) -> bytes:
    return random.choice((b"(", b"")) + _score(random)


def _second(random: Random) -> bytes:
    return b"%d" % (EPOCH // 1000 + random.choice((-1, 0, 1, 5)))


def _sha(random: Random) -> bytes:
    return sha(random.choice(SCRIPTS))


def _text(random: Random) -> bytes:
    return random.choice(SCRIPTS)


ANYWHERE = """
    DEL k; DEL k k; EXISTS k k; TYPE k; TTL k; PTTL k; PERSIST k; GET k; SET k v; PEXPIRE k t;
    EXPIRE k n; PEXPIRE k t NX; PEXPIRE k t XX; PEXPIRE k t GT; PEXPIRE k t LT; PING; PING v;
    RENAME k k; RENAMENX k k; GET; SET k; UNLINK k; PEXPIREAT k at; EXPIREAT k second; TIME;
    PEXPIREAT k t; EVAL text 1 k v; EVAL text 1 k v; EVALSHA sha 1 k v; SCRIPT LOAD text;
    SCRIPT EXISTS sha sha
"""
FAMILIES = {
    "strings": """
        SET k v NX; SET k v XX; SET k v PX t; SET k v NX PX t; SET k v EX n; SET k v GET;
        SET k v NX GET; SET k v KEEPTTL; SET k v PX; SET k v NX XX; SETNX k v; SETEX k n v;
        PSETEX k t v; GETSET k v; GETDEL k; MGET k k; MSET k v k v; MSET k v k; MSETNX k v k v;
        INCR k; DECR k; INCRBY k n; DECRBY k n; APPEND k v; STRLEN k
    """,
    "lists": """
        LPUSH k v v; RPUSH k v; RPUSH k v v v; LPUSHX k v; RPUSHX k v; LPOP k; RPOP k; LPOP k n;
        RPOP k n; LMOVE k k LEFT RIGHT; LMOVE k k RIGHT LEFT; RPOPLPUSH k k; LMOVE k k UP DOWN;
        LLEN k; LRANGE k n n; LRANGE k 0 -1; LINDEX k n; LSET k i v; LTRIM k n n; LREM k n v;
        LPOS k v
    """,
    "collections": """
        SADD k v; SADD k v v; SREM k v; SISMEMBER k v; SCARD k; SMEMBERS k;
        HSET k v v; HSET k v v v v;
        HSET k v v v; HSETNX k v v; HGET k v; HMGET k v v; HGETALL k; HDEL k v v; HEXISTS k v;
        HLEN k; HINCRBY k v n; HMSET k v v; HVALS k
    """,
    "sorted sets": """
        ZADD k s v; ZADD k s v s v; ZADD k s v s; ZREM k v; ZREM k v v; ZSCORE k v; ZCARD k;
        ZRANGE k 0 -1; ZRANGE k i i WITHSCORES; ZRANGE k n n; ZRANGEBYSCORE k -inf s;
        ZRANGEBYSCORE k s s; ZRANGEBYSCORE k b b WITHSCORES; ZRANGEBYSCORE k -inf +inf LIMIT i i;
        ZRANGEBYSCORE k b s LIMIT i n WITHSCORES; ZRANGEBYSCORE k s s LIMIT n
    """,
    "streams": """
        XADD k * v v; XADD k 5-1 v v; XADD k 1-0 v v; XADD k 0-0 v v; XADD k * v; XLEN k;
        XRANGE k - +; XREVRANGE k + - COUNT 1; XRANGE k - + COUNT n; XRANGE k 5 6; XDEL k 5-1;
        XADD k x v v; XDEL k 5-1 1-0; XINFO STREAM k; XINFO STREAM k; XGROUP CREATE k g 0;
        XGROUP CREATE k g $ MKSTREAM; XGROUP CREATE k h x; XACK k g 5-1; XACK k g x; XSETID k 5-1;
        XSETID k 7-0 ENTRIESADDED n; XSETID k 1900000009999-1 ENTRIESADDED 3; XSETID k x
    """,
    "watching": """
        WATCH k; WATCH k k; MULTI; MULTI; EXEC; EXEC; EXEC; DISCARD; UNWATCH; SET k v PX t; INCR k;
        RPUSH k v; SADD k v; XADD k * v v
    """,
    "waiting": """
        BLPOP k 0; BRPOP k 1; BLPOP k 0.01; BLPOP k x; BLPOP k -1; RPUSH k v; LPUSH k v v; MULTI;
        EXEC; LPOP k
    """,
    "channels": """
        SSUBSCRIBE ch; SSUBSCRIBE ch dh; SUNSUBSCRIBE ch; SUNSUBSCRIBE dh ch; SUBSCRIBE ch;
        UNSUBSCRIBE; SPUBLISH ch v; SPUBLISH ch v; PUBLISH ch v; PUBLISH ch v
    """,
    "scripts": """
        GET k; SET k 1; SET k a PX 1000; RPUSH k v; SADD k v; SSUBSCRIBE ch; SSUBSCRIBE dh;
        LRANGE k 0 -1; SMEMBERS k; XRANGE k - +; PTTL k; WATCH k; MULTI; EXEC; DEL k;
        XADD o * sale {"id":"a"}; XADD o * sale {"id":"b","n":[1,2.5]}; XADD o * sale no; DEL k k k;
        ZADD k 5 a; HSET k a b
    """,
}
DATA = ("strings", "lists", "collections", "sorted sets", "streams")
MAKERS = {  # other words are themselves
    **{"k": _key, "v": _value, "n": _number, "t": _ms, "i": _index, "at": _moment},
    **{"second": _second, "sha": _sha, "text": _text, "s": _score, "b": _bound},
}


def _words(shape: str, random: Random) -> Command:
    return tuple(
        MAKERS[part](random) if part in MAKERS else part.encode() for part in shape.split()
    )


def command(random: Random, family: str) -> Command:
    """Two thirds of the family, one third of what may come anywhere."""
    if random.random() < 0.33:
        shapes = ANYWHERE
    elif family == "scripts" and random.random() < 0.5:
        return scripts.call(random)
    elif family == "watching" and random.random() < 0.3:
        shapes = FAMILIES[random.choice(DATA)]
    else:
        shapes = FAMILIES[family]
    return _words(random.choice(shapes.split(";")), random)
